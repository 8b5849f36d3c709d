package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"steward/app/daemon"
	"steward/app/update"
)

// released is what is known of the newest release.
type released struct {
	Version string      `json:"version"` // of this program
	Newest  string      `json:"newest"`
	Newer   bool        `json:"newer"`
	Notes   string      `json:"notes"` // address of the page that says what is new
	Kind    update.Kind `json:"kind,omitempty"`
	File    string      `json:"file,omitempty"` // where it was put
	Sum     string      `json:"sha256,omitempty"`
	Install []string    `json:"install,omitempty"` // what the person does next, line by line
}

func updateCommand() *command {
	return &command{
		name:  "update",
		usage: "[--check] [--to FOLDER]",
		short: "see if there is a newer version, and fetch it",
		text: `Asks the address that this program was built with for the newest release. With
--check it says what is newer and where to read about it. Without, it also fetches
the file for this system, as Steward is installed here, into your Downloads folder
or another one, and says how to install it. It installs nothing by itself.

What the release key has not signed is not offered, nor kept under any name, and
neither is an older version. What is sent says nothing of you. By itself Steward
asks only if you turn that on, in Settings or by update_check in config.json.`,
		options: []option{
			{name: "check", help: "only say what is newer"},
			{name: "to", value: "FOLDER", help: "where the file is put; default: your Downloads folder"},
		},
		examples: []string{"steward update --check", "steward update", "steward update --to /tmp --json | jq -r .file"},
		run:      runUpdate,
	}
}

func runUpdate(s *session, in input) error {
	if in.on("check") && in.has("to") {
		return misuse("--to", "--to: not with --check, which fetches nothing", "")
	}
	paths, err := daemon.Find(s.env)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	found, err := daemon.LookForNewer(ctx, paths, version)
	if err != nil {
		return err
	}
	r := released{Version: version, Newest: found.Release.Version, Newer: found.Newer, Notes: found.Source.Notes}
	if found.Newer && !in.on("check") {
		folder, err := s.folder(in)
		if err != nil {
			return err
		}
		if err := s.fetch(ctx, found, folder, &r); err != nil {
			return err
		}
	}
	return s.print(r, r.text)
}

// folder is where the person wants the file.
func (s *session) folder(in input) (string, error) {
	if !in.has("to") {
		return daemon.Downloads(s.env)
	}
	folder, err := filepath.Abs(in.get("to"))
	if err != nil {
		return "", fmt.Errorf("this folder cannot be found: %w", err)
	}
	if fi, err := os.Stat(folder); in.get("to") == "" || err != nil || !fi.IsDir() {
		return "", misuse("--to", fmt.Sprintf("--to: a folder that is there; got %q", in.get("to")), "")
	}
	return folder, nil
}

func (s *session) fetch(ctx context.Context, found daemon.Newer, folder string, r *released) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program cannot be found: %w", err)
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	r.Kind = kindOf(runtime.GOOS, exe, "/var/lib/dpkg/info", ownedByRPM)
	f, err := found.Release.For(r.Kind, runtime.GOOS, runtime.GOARCH)
	if errors.Is(err, update.ErrAbsent) && runtime.GOOS == "darwin" {
		r.Kind = update.DMG
		f, err = found.Release.For(r.Kind, runtime.GOOS, runtime.GOARCH)
	}
	if err != nil {
		return daemon.NoRelease(err)
	}
	if !s.json && isTerminal(s.stderr) {
		fmt.Fprintf(s.stderr, "steward: fetching %s …\n", f.Name)
	}
	if r.File, err = found.Source.Fetch(ctx, f, folder); err != nil {
		return daemon.NoRelease(err)
	}
	r.Sum, r.Install = hex.EncodeToString(f.Sum[:]), install(r.Kind, r.File, exe)
	return nil
}

// kindOf is how the program at exe was installed on a system: as a package when
// the system's own list of packages names it. dpkg is the folder of dpkg's lists.
func kindOf(system, exe, dpkg string, rpm func(exe string) bool) update.Kind {
	switch {
	case system == "windows":
		return update.Setup
	case system == "darwin" && strings.Contains(exe, ".app/Contents/"):
		return update.DMG
	case system == "linux" && listed(filepath.Join(dpkg, "steward.list"), exe):
		return update.Deb
	case system == "linux" && rpm(exe):
		return update.RPM
	}
	return update.Tarball
}

func listed(list, exe string) bool {
	b, err := os.ReadFile(list)
	return err == nil && strings.Contains("\n"+string(b)+"\n", "\n"+exe+"\n")
}

// ownedByRPM asks rpm whether the file is of a package.
func ownedByRPM(exe string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "rpm", "-qf", "--queryformat", "%{NAME}", exe).Output()
	return err == nil && strings.TrimSpace(string(out)) == "steward"
}

// runsAsUnit asks systemd whether the service is one of the user's units.
func runsAsUnit() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return runtime.GOOS == "linux" && exec.CommandContext(ctx, "systemctl", "--user", "--quiet", "is-active", "steward.service").Run() == nil
}

// install is what the person does with the file, line by line.
func install(kind update.Kind, file, exe string) []string {
	then := "steward stop    # clients stay connected; their next call starts the new version"
	if runsAsUnit() { // one that was stopped would stay so until the next login
		then = "systemctl --user restart steward    # clients stay connected"
	}
	switch kind {
	case update.Deb:
		return []string{"sudo apt install " + quoted(file), then}
	case update.RPM:
		return []string{"sudo rpm -U " + quoted(file), then}
	case update.Setup:
		if line, ok := quotedWindows(file); ok {
			return []string{line} // and no more: cmd knows no comment behind it
		}
		return []string{"double-click it in Explorer"}
	case update.DMG:
		return []string{"open " + quoted(file) + "    # drag Steward onto Applications", then}
	}
	return append(unpack(file, exe), then)
}

// unpack is what the person does with a tarball: all that they have of an earlier
// one is named, for half of it would stay old.
func unpack(file, exe string) []string {
	bin, own, other := filepath.Dir(exe), "steward", "steward-desktop"
	if filepath.Base(exe) == other {
		own, other = other, own
	}
	is := func(path string) bool { _, err := os.Stat(path); return err == nil }
	move, what := "mv the "+own+" in it to "+quoted(exe), "the old one is"
	if to := filepath.Join(bin, other); is(to) {
		move, what = move+", and the "+other+" to "+quoted(to), "the old ones are"
	}
	lines := []string{"tar -xzf " + quoted(file) + "    # then " + move + "; cp cannot, " + what + " in use"}
	if unit := filepath.Join(filepath.Dir(bin), "share", "systemd", "user", "steward.service"); is(unit) {
		lines = append(lines, "systemctl --user daemon-reload    # after mv of the steward.service in it to "+quoted(unit))
	}
	return lines
}

// quoted is a text as a shell of Unix takes it.
func quoted(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool {
		return c < 0x80 && !strings.ContainsRune(`abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/:._-+@,=`, c)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quotedWindows is a program's path as both PowerShell and cmd take it at their
// prompt. The first quote stands behind the drive: PowerShell takes a line that
// begins with one for a text, and says it; and not behind a \, which a program that
// cmd starts takes for a quote of its first argument.
//
// It is false where nothing will do: PowerShell reads $, ` and its curly double
// quotes within quotes too, and takes [ ] for a pattern in a program's name; what
// cmd finds between two % it takes for a variable, quoted or not.
func quotedWindows(path string) (string, bool) {
	switch {
	case len(path) < 2 || strings.ContainsAny(path, "$`[]“”„") || strings.Count(path, "%") > 1:
		return `"` + path + `"`, false
	case strings.ContainsFunc(path, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune(`\:._-+~`, c)
	}):
		return path[:2] + `"` + path[2:] + `"`, true
	}
	return path, true
}

// text is what is known for people.
func (r *released) text(b *strings.Builder) {
	switch {
	case !r.Newer && r.Newest == r.Version:
		fmt.Fprintf(b, "Steward %s is the newest.\n", r.Version)
	case !r.Newer:
		fmt.Fprintf(b, "This is Steward %s; the newest release is %s, which is not newer.\n", r.Version, r.Newest)
	case r.File == "":
		fmt.Fprintf(b, "Steward %s is there; this is %s.\nWhat is new: %s\n`steward update` fetches it.\n", r.Newest, r.Version, visible(r.Notes))
	default:
		how := "To install it:"
		if r.Kind == update.Setup {
			how = "To install it, which stops what runs and replaces it:"
		}
		fmt.Fprintf(b, "Steward %s is fetched, its sum and signature are right; this is %s.\n%s\nWhat is new: %s\n%s\n", r.Newest, r.Version, visible(r.File), visible(r.Notes), how)
		for _, line := range r.Install {
			fmt.Fprintf(b, "  %s\n", visible(line))
		}
	}
}
