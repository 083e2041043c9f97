package stage

import "testing"

func TestReleasesOfTheKernelAreRead(t *testing.T) {
	for release, want := range map[string]kernel{
		"6.14.0":            {6, 14},
		"6.14-rc1":          {6, 14},
		"6.8.0-45-generic":  {6, 8},
		"5.15.167.4-WSL2":   {5, 15},
		"10.0":              {10, 0},
		"6":                 {},
		"":                  {},
		"six.fourteen":      {},
		"6.x":               {},
		"999999999999999.1": {999999999999999, 1},
	} {
		if got := parseKernel(release); got != want {
			t.Errorf("%q: %v, want %v", release, got, want)
		}
	}
	for _, c := range []struct {
		k, other kernel
		want     bool
	}{{kernel{6, 14}, kernel{6, 14}, true}, {kernel{6, 13}, kernel{6, 14}, false}, {kernel{7, 0}, kernel{6, 14}, true}, {kernel{5, 20}, kernel{6, 14}, false}, {kernel{}, countsUsers, false}} {
		if got := c.k.atLeast(c.other); got != c.want {
			t.Errorf("%v at least %v: %v", c.k, c.other, got)
		}
	}
}
