//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
)

// downloads is what the desktop's list of folders names, else the usual place;
// "" when there is no home.
func downloads(env Env) string {
	home := env["HOME"]
	if !filepath.IsAbs(home) {
		return ""
	}
	config := env["XDG_CONFIG_HOME"]
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	list, err := os.ReadFile(filepath.Join(config, "user-dirs.dirs"))
	if err != nil { // there is none on macOS and on a machine without a desktop
		return filepath.Join(home, "Downloads")
	}
	for _, line := range strings.Split(string(list), "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name != "XDG_DOWNLOAD_DIR" {
			continue
		}
		folder := strings.Trim(value, `"`)
		if rest, ok := strings.CutPrefix(folder, "$HOME"); ok {
			folder = home + rest
		}
		if filepath.IsAbs(folder) {
			return filepath.Clean(folder)
		}
	}
	return filepath.Join(home, "Downloads")
}
