package daemon

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"steward/ledger"
	"steward/mcp"
	"steward/mcp/ops"
)

// maxToken is how long a token's file may be in bytes.
const maxToken = 1024

// tokens are the two secrets of HTTP, and where each was found.
type tokens struct {
	owner, agent     string
	ownerAt, agentAt string // the file's path, or the variable's name
}

// tokens finds both secrets, and makes the files that are needed and not there.
func (p Paths) tokens(env Env, log *slog.Logger) (t tokens, err error) {
	if t.owner, t.ownerAt, err = token(env, "STEWARD_TOKEN", p.Token, log); err != nil {
		return tokens{}, err
	}
	t.agent, t.agentAt, err = token(env, "STEWARD_AGENT_TOKEN", p.AgentToken, log)
	if err == nil && t.agent == t.owner {
		// HTTP takes it for the lesser one then, and nobody is let in as the owner.
		err = &ops.Error{Code: ops.Invalid, Field: "STEWARD_TOKEN", Message: fmt.Sprintf("the owner's token (%s) and the agents' (%s) are the same", t.ownerAt, t.agentAt),
			Hint: "give the agents another one: the owner's opens everything"}
	}
	return t, err
}

// Proof is what shows a service that a window is the person's: what the token
// file of the state folder holds, which is made when it is not there. A variable
// that sets another token for HTTP does not count: it may be known to one of two
// processes alone.
func (p Paths) Proof(log *slog.Logger) (string, error) {
	value, _, err := token(nil, "STEWARD_TOKEN", p.Token, log)
	return value, err
}

// isOwner tells whether proof is what the token file holds now. Without a file
// nobody is.
func (p Paths) isOwner(proof string) bool {
	value, _, err := readToken(p.Token)
	return err == nil && subtle.ConstantTimeCompare([]byte(value), []byte(proof)) == 1
}

// token is a variable's value, else what the file holds, which is made when it
// is not there.
func token(env Env, variable, file string, log *slog.Logger) (value, at string, err error) {
	if v, name := env.First(names(variable)...); name != "" {
		return strings.TrimSpace(v), name, nil
	}
	value, loose, err := readToken(file)
	if errors.Is(err, errBlank) || errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(file, mcp.NewToken(), errors.Is(err, errBlank)); err == nil {
			value, loose, err = readToken(file) // another process on this folder may have been faster
		}
	}
	if err == nil && loose {
		if err = os.Chmod(file, 0o600); err == nil {
			log.Warn("others could read a token; now only you can. If somebody else uses this machine, delete the file and start again: a new one is made", "file", file)
		}
	}
	if err != nil {
		return "", "", &ops.Error{Code: ops.Unavailable, Message: fmt.Sprintf("the token in %s cannot be used: %v", file, cause(err)),
			Hint: "move it away, and a new one is made; or set " + variable, Err: err}
	}
	return value, file, nil
}

// CheckToken tells whether a token's file is there and, if so, why it cannot be
// used as it is. It changes nothing.
func CheckToken(file string) (there bool, problem error) {
	_, loose, err := readToken(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return true, cause(err)
	case loose:
		return true, errors.New("others can read it")
	}
	return true, nil
}

// TokenUnusable is why a token's file keeps HTTP from being served; nil if it does
// not: one that is not there or blank is made anew, one that others can read is
// closed to them.
func TokenUnusable(file string) error {
	_, _, err := readToken(file)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errBlank) {
		return nil
	}
	return cause(err)
}

// errBlank means that there is nothing in a token's file.
var errBlank = errors.New("it is empty")

// readToken reads a token out of a file of this user. loose says that others
// can read it too.
func readToken(file string) (value string, loose bool, err error) {
	fi, err := os.Lstat(file)
	switch {
	case err != nil:
		return "", false, err
	case !fi.Mode().IsRegular():
		return "", false, errors.New("it is no plain file")
	case !own(fi):
		return "", false, errors.New("it belongs to another user")
	case fi.Size() > maxToken:
		return "", false, fmt.Errorf("it has %d bytes; at most %d", fi.Size(), maxToken)
	}
	b, err := ledger.ReadPlain(file, maxToken)
	if err != nil {
		return "", false, err
	}
	if value = strings.TrimSpace(string(b)); value == "" {
		return "", false, errBlank
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", false, errors.New("it is not one word of plain characters")
	}
	// On Windows the folder says who can read what is in it.
	return value, runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0, nil
}

// makeToken puts a token into a file that appears whole, for this user alone. A
// file that is there already stays, unless over says that it is worth nothing.
func makeToken(file, value string, over bool) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(temp.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	_, err = temp.WriteString(value + "\n")
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if !over {
		if err := os.Link(temp.Name(), file); err == nil || errors.Is(err, fs.ErrExist) {
			return nil
		}
	}
	return os.Rename(temp.Name(), file)
}
