package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of the spool.
const (
	// MaxSpooled is the greatest length of a spooled call's arguments in
	// bytes. No valid receipt comes near it.
	MaxSpooled = 1 << 20
	// maxSpoolFiles is how many calls one bridge can spool in its life: the
	// number in the file name has six digits, and the name gives the order.
	maxSpoolFiles = 999_999

	spoolSuffix = ".call"
	spoolTemp   = ".tmp"
	spoolBad    = "bad"
)

// ErrBadRecord means a spool file that is cut short, changed, or none.
var ErrBadRecord = errors.New("spool: not a whole record")

// A Stamp names one appending call of one bridge for ever.
type Stamp struct {
	Bridge string `json:"bridge"` // the ULID of the bridge's hello
	Slot   int    `json:"slot"`   // 0 to Slots-1
	Seq    uint64 `json:"seq"`    // from 1, rising within the slot
}

// Caller is who made a spooled call, in the words a connection's service uses.
type Caller struct {
	Workspace string `json:"workspace,omitempty"` // the stream, else the client's name
	Stream    string `json:"stream,omitempty"`
	Client    string `json:"client,omitempty"`  // name and version
	Session   string `json:"session,omitempty"` // the bridge's ULID
}

// A Record is one call that was answered without the service. Arguments are
// the bytes the client sent.
type Record struct {
	Stamp     Stamp           `json:"stamp"`
	SaidAt    time.Time       `json:"said_at"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Caller    Caller          `json:"caller"`
}

// trailerLen is a line feed, 64 hexadecimal digits of the SHA-256 of all bytes
// before it, and a line feed.
const trailerLen = 1 + 2*sha256.Size + 1

// encode writes the record and its trailer. The arguments go in as they are:
// the encoder would rewrite some of their bytes.
func (r Record) encode() ([]byte, error) {
	args := r.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if len(args) > MaxSpooled {
		return nil, fmt.Errorf("arguments: at most %d bytes can be kept; got %d", MaxSpooled, len(args))
	}
	if !json.Valid(args) {
		return nil, errors.New("arguments: not valid JSON")
	}
	r.Arguments = nil
	r.SaidAt = r.SaidAt.UTC().Truncate(time.Millisecond)
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	mark := []byte(`"arguments":null`) // inside a text its quotes would be escaped
	at := bytes.LastIndex(head, mark)
	if at < 0 {
		return nil, errors.New("spool: record has no arguments")
	}
	at += len(mark) - len("null")
	b := splice(head, span{at, at + len("null")}, args)
	sum := sha256.Sum256(b)
	b = append(b, '\n')
	b = hex.AppendEncode(b, sum[:])
	return append(b, '\n'), nil
}

// decode is the reverse of encode. Its errors wrap ErrBadRecord.
func decode(b []byte) (Record, error) {
	n := len(b) - trailerLen
	if n < 0 || b[n] != '\n' || b[len(b)-1] != '\n' {
		return Record{}, fmt.Errorf("%w: cut short", ErrBadRecord)
	}
	sum := sha256.Sum256(b[:n])
	if want := hex.EncodeToString(sum[:]); want != string(b[n+1:len(b)-1]) {
		return Record{}, fmt.Errorf("%w: its SHA-256 does not match", ErrBadRecord)
	}
	var r Record
	if err := json.Unmarshal(b[:n], &r); err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrBadRecord, err)
	}
	switch {
	case !isID(r.Stamp.Bridge):
		return Record{}, fmt.Errorf("%w: stamp.bridge is no ULID", ErrBadRecord)
	case r.Stamp.Slot < 0 || r.Stamp.Slot >= Slots:
		return Record{}, fmt.Errorf("%w: stamp.slot is %d, at most %d", ErrBadRecord, r.Stamp.Slot, Slots-1)
	case r.Stamp.Seq == 0:
		return Record{}, fmt.Errorf("%w: stamp.seq is 0", ErrBadRecord)
	case r.Tool == "":
		return Record{}, fmt.Errorf("%w: no tool", ErrBadRecord)
	case r.SaidAt.IsZero():
		return Record{}, fmt.Errorf("%w: no said_at", ErrBadRecord)
	case len(r.Arguments) == 0 || r.Arguments[0] != '{':
		return Record{}, fmt.Errorf("%w: arguments are no object", ErrBadRecord)
	}
	return r, nil
}

// Write keeps one call in the spool folder dir, which is made (0700) if it is
// not there: a temporary file, fsync, rename, fsync of the folder. When it
// returns nil, the call is on disk under the returned file name; on an error
// nothing of it is. bridge is the ULID of the writer and n its running number,
// 1 to 999 999: the names, in text order, are the order of one bridge's calls.
func Write(dir, bridge string, n int, r Record) (file string, err error) {
	if !isID(bridge) || r.Stamp.Bridge != bridge {
		return "", fmt.Errorf("spool: the record of bridge %q cannot be kept as one of %q", r.Stamp.Bridge, bridge)
	}
	if n < 1 || n > maxSpoolFiles {
		return "", fmt.Errorf("spool: at most %d calls of one bridge", maxSpoolFiles)
	}
	b, err := r.encode()
	if err != nil {
		return "", err
	}
	if err := makeFolder(dir); err != nil {
		return "", err
	}
	base := fmt.Sprintf("%s-%06d", bridge, n)
	file, temp := base+spoolSuffix, filepath.Join(dir, base+spoolTemp)
	if err := writeSynced(temp, b); err != nil {
		os.Remove(temp)
		return "", err
	}
	if err := os.Rename(temp, filepath.Join(dir, file)); err != nil {
		os.Remove(temp)
		return "", err
	}
	if err := syncFolder(dir); err != nil {
		// The name may or may not outlive a power cut, and the caller will be
		// told that nothing was kept: make that so.
		os.Remove(filepath.Join(dir, file))
		return "", err
	}
	return file, nil
}

func makeFolder(dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "spool", Path: dir, Err: errors.New("not a folder")}
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// List returns the names of the spooled calls in dir, in the order in which
// they are to be applied, of each bridge without a gap: a folder that is written
// while it is read may show a later file and not an earlier one, and a call that
// is applied before its predecessor makes that one too late. So the folder is
// read twice: whatever precedes a file of the first reading was there before the
// second one began. Files that came since are for the next time. A folder that is
// not there is empty. Other files are left out.
func List(dir string) ([]string, error) { return listTwice(dir, readSpool) }

func listTwice(dir string, read func(dir string) ([]string, error)) ([]string, error) {
	first, err := read(dir)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	last := map[string]string{}
	for _, f := range first {
		bridge, _ := BridgeOf(f)
		last[bridge] = max(last[bridge], f)
	}
	all, err := read(dir)
	return slices.DeleteFunc(all, func(f string) bool {
		bridge, _ := BridgeOf(f)
		return f > last[bridge]
	}), err
}

func readSpool(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // sorted
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if _, ok := BridgeOf(e.Name()); ok && e.Type().IsRegular() {
			files = append(files, e.Name())
		}
	}
	return files, nil
}

// BridgeOf returns the ULID of the bridge that wrote a spool file. ok is false
// if file is no name of a spooled call.
func BridgeOf(file string) (bridge string, ok bool) {
	base, ok := strings.CutSuffix(file, spoolSuffix)
	if !ok {
		return "", false
	}
	bridge, number, ok := strings.Cut(base, "-")
	if !ok || len(number) != 6 || !isID(bridge) {
		return "", false
	}
	n, err := strconv.ParseUint(number, 10, 32)
	return bridge, err == nil && n > 0
}

// Read returns the record in a spool file. The error wraps ErrBadRecord if the
// file is not exactly what Write wrote; such a file belongs to Reject.
func Read(path string) (Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	// Room for the arguments and for the other fields, which are short.
	const most = MaxSpooled + 64<<10
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return Record{}, err
	}
	if len(b) > most {
		return Record{}, fmt.Errorf("%w: over %d bytes", ErrBadRecord, most)
	}
	r, err := decode(b)
	if err != nil {
		return Record{}, err
	}
	if bridge, ok := BridgeOf(filepath.Base(path)); !ok || bridge != r.Stamp.Bridge {
		return Record{}, fmt.Errorf("%w: of bridge %s under the name %s", ErrBadRecord, r.Stamp.Bridge, filepath.Base(path))
	}
	return r, nil
}

// Remove takes an applied call out of the spool folder for good: when it
// returns nil, not even a power cut brings the file back. A file that is not
// there is removed already.
func Remove(dir, file string) error {
	if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncFolder(dir)
}

// Reject moves a file that is no record into the folder bad beside it, where
// nothing reads it and a person can, and returns its new path.
func Reject(dir, file string) (string, error) {
	bad := filepath.Join(dir, spoolBad)
	if err := makeFolder(bad); err != nil {
		return "", err
	}
	to := filepath.Join(bad, file)
	for i := 1; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
		to = filepath.Join(bad, file+"."+strconv.Itoa(i))
	}
	if err := os.Rename(filepath.Join(dir, file), to); err != nil {
		return "", err
	}
	return to, errors.Join(syncFolder(bad), syncFolder(dir))
}

// Tidy removes what killed writers left half-written before a moment. Such a
// call was never answered.
func Tidy(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), spoolTemp) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
