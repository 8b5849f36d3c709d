package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// FileLock is the right to write one ledger file, held by one process.
type FileLock struct {
	f    *os.File
	once sync.Once
}

// held keeps the locks of this process reachable: an os.File that the garbage
// collector takes is closed, and its lock is gone.
var held struct {
	sync.Mutex
	locks map[*FileLock]bool
}

// maxLockText bounds what is read of a lock file's text.
const maxLockText = 1024

// Lock takes the lock that stands beside the ledger file's real path, without
// waiting. text says who holds it, for people; nothing trusts it. Error:
// ErrLocked.
func Lock(path, text string) (*FileLock, error) {
	name, err := lockName(path)
	if err != nil {
		return nil, err
	}
	f, err := OpenPlain(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, notWritable(err)
	}
	if err := lockFile(f, true); err != nil {
		f.Close()
		return nil, err
	}
	// Between opening and locking the file may have been removed or replaced; a
	// lock on a file without a name keeps nobody out.
	here, err1 := f.Stat()
	there, err2 := os.Stat(name)
	if err1 != nil || err2 != nil || !os.SameFile(here, there) {
		f.Close()
		return nil, fmt.Errorf("%w: its lock file was replaced just now", ErrLocked)
	}
	if err := f.Truncate(0); err == nil {
		f.WriteAt([]byte(text), 0) // for people only
	}
	l := &FileLock{f: f}
	held.Lock()
	if held.locks == nil {
		held.locks = map[*FileLock]bool{}
	}
	held.locks[l] = true
	held.Unlock()
	return l, nil
}

// Release gives the lock back. The lock file stays: removing it would let two
// processes hold two files of one name.
func (l *FileLock) Release() error {
	var err error
	l.once.Do(func() {
		held.Lock()
		delete(held.locks, l)
		held.Unlock()
		l.f.Truncate(0)
		err = errors.Join(unlockFile(l.f), l.f.Close())
	})
	return err
}

// Holder tells whether a process holds the ledger, and what it wrote about
// itself.
func Holder(path string) (text string, isHeld bool, err error) {
	name, err := lockName(path)
	if err != nil {
		return "", false, err
	}
	f, err := OpenPlain(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	b := make([]byte, maxLockText)
	n, _ := f.ReadAt(b, 0)
	text = strings.TrimSpace(strings.ToValidUTF8(string(b[:n]), "�"))
	err = lockFile(f, false)
	if errors.Is(err, ErrLocked) {
		return text, true, nil
	}
	if err != nil {
		return text, false, err
	}
	return "", false, unlockFile(f)
}

func lockName(path string) (string, error) {
	p, err := RealPath(path)
	if err != nil {
		return "", err
	}
	return p + ".lock", nil
}

// RealPath returns the absolute path with every symbolic link followed, also
// when the file, or a folder above it, does not exist yet. Two names of one
// ledger have one real path.
func RealPath(path string) (string, error) {
	p, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return realPath(p, 40)
}

func realPath(p string, links int) (string, error) {
	real, err := filepath.EvalSymlinks(p)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if to, err := os.Readlink(p); err == nil { // a link to what does not exist yet
		if links == 0 {
			return "", fmt.Errorf("%s: too many symbolic links", p)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(p), to)
		}
		return realPath(to, links-1)
	}
	dir := filepath.Dir(p)
	if dir == p {
		return p, nil
	}
	dir, err = realPath(dir, links)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(p)), nil
}
