package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"steward/app/update"
)

// The file that is fetched is of the kind that is installed.
func TestKindOf(t *testing.T) {
	dpkg := t.TempDir()
	if err := os.WriteFile(filepath.Join(dpkg, "steward.list"), []byte("/.\n/usr/bin\n/usr/bin/steward\n/usr/bin/steward-desktop\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system, exe, dpkg string
		rpm               bool
		want              update.Kind
	}{
		{"linux", "/usr/bin/steward", dpkg, false, update.Deb},
		{"linux", "/usr/bin/steward-desktop", dpkg, false, update.Deb},
		{"linux", "/usr/bin/stew", dpkg, false, update.Tarball},
		{"linux", "/home/me/steward", dpkg, false, update.Tarball}, // beside a package
		{"linux", "/usr/bin/steward", t.TempDir(), true, update.RPM},
		{"linux", "/usr/bin/steward", t.TempDir(), false, update.Tarball},
		{"windows", `C:\Users\me\AppData\Local\Programs\Steward\steward.exe`, dpkg, false, update.Setup},
		{"darwin", "/Applications/Steward.app/Contents/MacOS/steward", dpkg, false, update.DMG},
		{"darwin", "/usr/local/bin/steward", dpkg, false, update.Tarball},
	} {
		if got := kindOf(c.system, c.exe, c.dpkg, func(string) bool { return c.rpm }); got != c.want {
			t.Errorf("%s on %s: %s; want %s", c.exe, c.system, got, c.want)
		}
	}
}

func TestInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other paths")
	}
	for kind, want := range map[update.Kind]string{
		update.Deb: "sudo apt install '/home/a b/x.deb'", update.RPM: "sudo rpm -U '/home/a b/x.deb'",
		update.DMG: "open '/home/a b/x.deb'", update.Tarball: "tar -xzf '/home/a b/x.deb'",
	} {
		if lines := install(kind, "/home/a b/x.deb", "/opt/steward"); !strings.HasPrefix(lines[0], want) {
			t.Errorf("%s: %q", kind, lines)
		}
	}
	// Of a tarball all is named that is there.
	local := t.TempDir()
	bin, unit := filepath.Join(local, "bin"), filepath.Join(local, "share", "systemd", "user", "steward.service")
	program, window := filepath.Join(bin, "steward"), filepath.Join(bin, "steward-desktop")
	for _, c := range []struct{ there, exe, want string }{
		{program, program, "tar -xzf /x    # then mv the steward in it to " + program + "; cp cannot, the old one is in use"},
		{window, program, "tar -xzf /x    # then mv the steward in it to " + program + ", and the steward-desktop to " + window + "; cp cannot, the old ones are in use"},
		{window, window, "tar -xzf /x    # then mv the steward-desktop in it to " + window + ", and the steward to " + program + "; cp cannot, the old ones are in use"},
		{unit, program, "tar -xzf /x    # then mv the steward in it to " + program + ", and the steward-desktop to " + window + "; cp cannot, the old ones are in use\n" +
			"systemctl --user daemon-reload    # after mv of the steward.service in it to " + unit},
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(c.there), 0o700), os.WriteFile(c.there, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		lines := install(update.Tarball, "/x", c.exe)
		if got := strings.Join(lines[:len(lines)-1], "\n"); got != c.want {
			t.Errorf("with %s:\n%s\nwant\n%s", c.there, got, c.want)
		}
	}
	for path, want := range map[string]string{
		"/home/me/下载/x_1.2.3~rc.1_amd64.deb": "'/home/me/下载/x_1.2.3~rc.1_amd64.deb'", "/home/me/下载/x.deb": "/home/me/下载/x.deb",
		"/a'b/x": `'/a'\''b/x'`, "/$(touch x)/y": "'/$(touch x)/y'", "/a;b": "'/a;b'", "/a\tb": "'/a\tb'",
	} {
		if got := quoted(path); got != want {
			t.Errorf("%q: %s; want %s", path, got, want)
		}
	}
}

// A line for Windows is pasted into PowerShell or into cmd, and neither may take it
// for another.
func TestInstallWindows(t *testing.T) {
	const hand = "double-click it in Explorer"
	for file, want := range map[string]string{
		`C:\Users\me\Downloads\steward-1.2.3-windows-amd64-setup.exe`: `C:\Users\me\Downloads\steward-1.2.3-windows-amd64-setup.exe`,
		`C:\Users\杨 明\下载\setup.exe`:                                   `C:"\Users\杨 明\下载\setup.exe"`,
		`C:\Users\杨　明\setup.exe`:                                      `C:"\Users\杨　明\setup.exe"`, // PowerShell ends a word there too
		`C:\Users\John Q. Smith\setup.exe`:                            `C:"\Users\John Q. Smith\setup.exe"`,
		`C:\R&D\it's (new)\setup.exe`:                                 `C:"\R&D\it's (new)\setup.exe"`,
		`C:\a’s\setup.exe`:                                            `C:"\a’s\setup.exe"`, // a quote in PowerShell
		`C:\a,b;c=d\{e}^!#@\setup.exe`:                                `C:"\a,b;c=d\{e}^!#@\setup.exe"`,
		`C:\100% mine\setup.exe`:                                      `C:"\100% mine\setup.exe"`,
		`\\the server\c d\setup.exe`:                                  `\\"the server\c d\setup.exe"`,
		`C:\MYNAME~1\setup.exe`:                                       `C:\MYNAME~1\setup.exe`,
		`C:\%TEMP%\setup.exe`:                                         hand,
		`C:\50% of\50%\setup.exe`:                                     hand,
		`\\server\c$\setup.exe`:                                       hand,
		"C:\\a`b\\setup.exe":                                          hand,
		`C:\“a”\setup.exe`:                                            hand,
		`C:\[a]\setup.exe`:                                            hand,
	} {
		if lines := install(update.Setup, file, `C:\steward.exe`); len(lines) != 1 || lines[0] != want {
			t.Errorf("%s: %q; want %s", file, lines, want)
		}
	}
}
