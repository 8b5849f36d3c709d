package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"steward/ledger"
	"steward/mcp/ops"
)

// Paths are the places one Steward uses. Everything that must be shared by two
// processes on one ledger (socket, spool) is derived from the ledger's real
// path, never from the state folder, so two state folders on one ledger file
// meet at one owner.
type Paths struct {
	Home    string // the state folder
	Ledger  string // real path of the ledger file
	Key     string // SHA-256 of Ledger in hex: the ledger's name in a hello
	Socket  string // address of the owner: a socket's path, on Windows a pipe's name
	Spool   string // calls that wait for a service
	Backups string // copies made before a migration
	Config  string // config.json
	Log     string // logs/steward.log
	Older   string // a ledger of an older program, only ever read; "" if none

	Token, AgentToken string // files of the two secrets of HTTP

	chosen bool // Socket is what STEWARD_SOCKET says
}

// Find works out the places from the environment. It creates nothing, so that
// a bridge can call it before there is a state folder. The error says which
// variable to set, and is an *ops.Error.
func Find(env Env) (Paths, error) {
	home, err := stateFolder(env)
	if err != nil {
		return Paths{}, err
	}
	p := Paths{
		Home:   home,
		Config: filepath.Join(home, "config.json"),
		Log:    filepath.Join(home, "logs", "steward.log"),

		Token:      filepath.Join(home, "token"),
		AgentToken: filepath.Join(home, "agent-token"),
	}
	var file string
	if file, p.Older, err = ledgerFile(env, home); err != nil {
		return Paths{}, err
	}
	if p.Ledger, err = ledger.RealPath(file); err != nil {
		return Paths{}, notFollowed(env, file, err)
	}
	sum := sha256.Sum256([]byte(p.Ledger))
	p.Key = hex.EncodeToString(sum[:])
	if dir, base := filepath.Split(p.Ledger); base == "ledger.db" {
		p.Spool, p.Backups = filepath.Join(dir, "spool"), filepath.Join(dir, "backups")
	} else {
		p.Spool, p.Backups = p.Ledger+".spool", p.Ledger+".backups"
	}
	p.chosen = env.IsSet("STEWARD_SOCKET")
	p.Socket, err = socketAddress(env, p)
	return p, err
}

// ledgerFile is the ledger in use, and the one of an older program beside it if
// there is one: what a variable names can be either.
func ledgerFile(env Env, home string) (file, theirs string, err error) {
	file = filepath.Join(home, "ledger.db")
	v, name := env.First(names("STEWARD_DB")...)
	switch {
	case v == "":
		// Only until there is a ledger: on macOS a look into Documents can make
		// the system ask the person.
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) && older(olderDefault(env)) {
			theirs = olderDefault(env)
		}
	case !filepath.IsAbs(v):
		return "", "", notAbsolute(name, v)
	case !older(v):
		if err := notALedger(name, v); err != nil {
			return "", "", err
		}
		file = v
	case name == "STEWARD_DB":
		// Our own name may name another program's database by mistake; then it
		// stands for the ledger, and opening that is refused.
		if is, err := ledger.IsOlder(v); err == nil && is {
			theirs = v
		} else {
			file = v
		}
	default:
		theirs = v
	}
	return file, theirs, nil
}

// stateFolder is STEWARD_HOME, else the place the system has for data.
func stateFolder(env Env) (string, error) {
	if v, name := env.First(names("STEWARD_HOME")...); v != "" {
		if !filepath.IsAbs(v) {
			return "", notAbsolute(name, v)
		}
		if fi, err := os.Stat(v); err == nil && !fi.IsDir() {
			return "", &ops.Error{Code: ops.Invalid, Field: name, Message: fmt.Sprintf("%s: a folder; %s is none", name, v),
				Hint: "name a folder, which need not be there yet, or unset " + name + " for the usual one"}
		}
		if other := shared(v); other != "" {
			return "", &ops.Error{Code: ops.Invalid, Field: name, Message: fmt.Sprintf("%s: a folder for Steward alone; others may enter %s, and it holds other things (%s)", name, v, other),
				Hint: "name a folder in it, which need not be there yet, or unset " + name + " for the usual one"}
		}
		return filepath.Clean(v), nil
	}
	return dataFolder(env)
}

// ours are the names of what Steward keeps in its state folder.
var ours = []string{".DS_Store", "agent-token", "backups", "config.json", "logs", "run", "spool", "token", "update.json", "window.json"}

// shared names something that shows a folder to be no state folder of Steward's: it
// is open to others, has no ledger, and holds what Steward does not put there. It
// would be closed to them. "" is nothing.
func shared(folder string) string {
	fi, err := os.Stat(folder)
	if err != nil || runtime.GOOS == "windows" || fi.Mode().Perm()&0o077 == 0 {
		return ""
	}
	for _, ledger := range []string{"ledger.db", "ledger.db.lock"} {
		if _, err := os.Lstat(filepath.Join(folder, ledger)); err == nil {
			return ""
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "" // what is wrong with it, others say
	}
	for _, e := range entries {
		if !slices.Contains(ours, e.Name()) {
			return e.Name()
		}
	}
	return ""
}

// notALedger is why the file that a variable names cannot be one, as far as can be
// seen without opening it as one. A file of Steward's that was damaged has its lock
// beside it, and is told as damaged when it is opened.
func notALedger(name, file string) error {
	const magic = "SQLite format 3\x00"
	refuse := func(what string) error {
		return &ops.Error{Code: ops.Invalid, Field: name, Message: fmt.Sprintf("%s: a ledger's file; %s is %s", name, file, what),
			Hint: "name a file that need not be there yet, or unset " + name + " for the usual one"}
	}
	fi, err := os.Stat(file)
	switch {
	case err != nil:
		return nil // it is made, or what is wrong is said when it is
	case fi.IsDir():
		return refuse("a folder")
	case !fi.Mode().IsRegular():
		return refuse("no file")
	case fi.Size() == 0:
		return nil
	}
	if _, err := os.Lstat(file + ".lock"); err == nil {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if n, _ := io.ReadFull(f, head); string(head[:n]) != magic {
		return refuse("no SQLite database")
	}
	return nil
}

func notAbsolute(name, got string) error {
	return &ops.Error{Code: ops.Invalid, Field: name, Message: fmt.Sprintf("%s: an absolute path; got %s", name, got),
		Hint: "write the whole path, without ~ or variables that your shell would fill in"}
}

// notFollowed is why there is no real path of the ledger's file, and by which
// variable it was looked for there.
func notFollowed(env Env, file string, err error) error {
	by, hint := "", "check the folder and its links, or set STEWARD_HOME to another folder"
	for _, variable := range []string{"STEWARD_DB", "STEWARD_HOME"} {
		v, name := env.First(names(variable)...)
		if v == file || v != "" && filepath.Join(v, "ledger.db") == file {
			by, hint = " (by "+name+")", "check the folder and its links, or set "+name+" to another place"
		}
	}
	return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the ledger's path %s%s cannot be followed: %v", file, by, cause(err)), Hint: hint, Err: err}
}

// isDefault tells whether the ledger is the one used when nothing is set.
func isDefault(env Env, real string) bool {
	folder, err := dataFolder(env)
	if err != nil {
		return false
	}
	p, err := ledger.RealPath(filepath.Join(folder, "ledger.db"))
	return err == nil && p == real
}

// Make creates the state folder for this user alone.
func (p Paths) Make() error {
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return unwritable(p.Home, err)
	}
	return nil
}

// Restore says how a copy of the ledger is put in its place, and names the newest.
func (p Paths) Restore() string {
	daily, others, err := DailyBackups(p.Backups)
	switch {
	case err == nil && len(daily) > 0:
		return "`steward restore " + daily[0].File + "` puts the newest daily copy in its place and keeps what is there"
	case err == nil && others > 0:
		return "`steward restore FILE` puts a copy from " + p.Backups + " in its place and keeps what is there"
	}
	file := filepath.Base(p.Ledger)
	return fmt.Sprintf("there is no copy in %[2]s; `steward restore FILE` takes one from elsewhere; to begin anew, stop Steward and move %[1]s, %[1]s-wal and %[1]s-shm away, all three", file, p.Backups)
}

// tighten closes a state folder that is there to others: what is in it is for this
// user alone. was is its mode before, 0 when that was right or is not ours to
// change.
func (p Paths) tighten() (was fs.FileMode, err error) {
	fi, err := os.Stat(p.Home)
	if err != nil || runtime.GOOS == "windows" || fi.Mode().Perm()&0o077 == 0 || !own(fi) {
		return 0, nil // what is wrong with it otherwise, others say
	}
	if err := os.Chmod(p.Home, 0o700); err != nil {
		return 0, err
	}
	return fi.Mode().Perm(), nil
}

func unwritable(path string, err error) error {
	return &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the state folder %s cannot be written: %v", path, cause(err)),
		Hint: "give your user write access to it, or set STEWARD_HOME to another folder", Err: err}
}

// cause strips the operation and the path from a file error: both have been
// said already.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
