package git

// onlyZombies: launchd reaps orphans at once.
func onlyZombies(int) bool { return false }
