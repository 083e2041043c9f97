package launch

import (
	"io/fs"
	"path"
)

// installed are where packages and build/install-stage.sh put the stage; the AppArmor profile names both.
var installed = []string{"/usr/lib/termic/stage", "/usr/local/lib/termic/stage"}

// Program returns the path of the stage to use: beside, unless AppArmor restricts user namespaces (root is "/" of the
// system) and there is an installed one, which the profile lets make them. A stage of another version than the app's
// refuses its plans.
func Program(beside string, root fs.FS) string {
	if read(root, restriction) != "1" {
		return beside
	}
	for _, name := range installed {
		if info, err := fs.Stat(root, path.Clean(name)[1:]); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return beside
}
