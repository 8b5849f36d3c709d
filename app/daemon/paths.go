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
	}
	file := filepath.Join(home, "ledger.db")
	if v, name := env.First(fileNames...); v != "" {
		if !filepath.IsAbs(v) {
			return Paths{}, notAbsolute(name, v)
		}
		if name == fileNames[1] && older(v) {
			p.Older = v
		} else {
			file = v
		}
	}
	if p.Ledger, err = ledger.RealPath(file); err != nil {
		return Paths{}, &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the ledger's path %s cannot be followed: %v", file, errors.Unwrap(err)), Hint: "check the folder and its links, or set STEWARD_DB", Err: err}
	}
	sum := sha256.Sum256([]byte(p.Ledger))
	p.Key = hex.EncodeToString(sum[:])
	if dir, base := filepath.Split(p.Ledger); base == "ledger.db" {
		p.Spool, p.Backups = filepath.Join(dir, "spool"), filepath.Join(dir, "backups")
	} else {
		p.Spool, p.Backups = p.Ledger+".spool", p.Ledger+".backups"
	}
	p.Socket, err = socketAddress(env, p)
	return p, err
}

// stateFolder is STEWARD_HOME, else the place the system has for data.
func stateFolder(env Env) (string, error) {
	if v, name := env.First(homeNames...); v != "" {
		if !filepath.IsAbs(v) {
			return "", notAbsolute(name, v)
		}
		return filepath.Clean(v), nil
	}
	return dataFolder(env)
}

func notAbsolute(name, got string) error {
	return &ops.Error{Code: ops.Invalid, Field: name, Message: fmt.Sprintf("%s: an absolute path; got %s", name, got),
		Hint: "write the whole path, without ~ or variables that your shell would fill in"}
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

// Make creates the state folder for this user alone. A folder that exists
// keeps its mode.
func (p Paths) Make() error {
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return unwritable(p.Home, err)
	}
	return nil
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

// older tells whether path is a ledger of an older program: an SQLite database
// without Steward's application id. It looks at the file's header alone.
func older(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // opened for reading
	header := make([]byte, 100)
	if _, err := io.ReadFull(f, header); err != nil {
		return false
	}
	return string(header[:16]) == "SQLite format 3\x00" && string(header[68:72]) != applicationID
}

// applicationID stands at byte 68 of a Steward ledger's header.
const applicationID = "STWR"
