package update

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Release is what one signed list names.
type Release struct {
	Version string // as in the names of its files
	files   []File
}

// File is one file of a release.
type File struct {
	Name string // plain: no folder, nothing hidden
	Sum  [32]byte
}

const (
	maxFiles = 256
	maxName  = 128 // bytes
)

// parse reads a list as sha256sum writes it, and the one version that the names
// of Steward's packages carry. A line that is anything else is refused, not
// passed over: whoever signs has made it by accident then.
func parse(sums []byte) (r Release, err error) {
	bad := func(format string, args ...any) (Release, error) {
		return Release{}, fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSuffix(string(sums), "\n"), "\n") {
		sum, name, ok := strings.Cut(line, " ")
		if name, ok = cutMode(name, ok); !ok || !plain(name) {
			return bad("line %d is not a sum, two spaces and a plain name", n+1)
		}
		f := File{Name: name}
		if len(sum) != 2*len(f.Sum) || strings.ToLower(sum) != sum {
			return bad("line %d has no SHA-256 sum", n+1)
		}
		if _, err := hex.Decode(f.Sum[:], []byte(sum)); err != nil {
			return bad("line %d has no SHA-256 sum", n+1)
		}
		switch {
		case seen[name]:
			return bad("%s is there twice", name)
		case len(r.files) == maxFiles:
			return bad("more than %d files", maxFiles)
		}
		seen[name] = true
		r.files = append(r.files, f)
		switch v := versionIn(name); {
		case v == "" || v == r.Version:
		case r.Version == "":
			r.Version = v
		default:
			return bad("it has files of %s and of %s", r.Version, v)
		}
	}
	if r.Version == "" {
		return bad("no name in it carries a version")
	}
	return r, nil
}

// cutMode takes the second of the two characters between sum and name: a space,
// or a star for binary mode, which is the same on every system we know.
func cutMode(rest string, ok bool) (string, bool) {
	if !ok || rest == "" || rest[0] != ' ' && rest[0] != '*' {
		return "", false
	}
	return rest[1:], true
}

// plain tells whether a name can stand in a folder of the person's on any system.
func plain(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '.' || name[0] == '-' || strings.HasSuffix(name, ".") {
		return false
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.ContainsRune("._+~-", c):
		default:
			return false
		}
	}
	return true
}

// Kind is the form in which Steward is installed.
type Kind string

// The kinds.
const (
	Deb     Kind = "deb"
	RPM     Kind = "rpm"
	Tarball Kind = "tarball"
	Setup   Kind = "setup" // the installer for Windows
	DMG     Kind = "dmg"
)

// named are the names of the packages: what stands before and behind the
// version, with ARCH for the kind's own word for the processor.
var named = []struct {
	kind          Kind
	system        string // as runtime.GOOS
	before, after string
	arch          map[string]string // runtime.GOARCH → ARCH; nil: one for all
}{
	{Deb, "linux", "steward_", "_ARCH.deb", map[string]string{"amd64": "amd64", "arm64": "arm64"}},
	{RPM, "linux", "steward-", "-1.ARCH.rpm", map[string]string{"amd64": "x86_64", "arm64": "aarch64"}},
	{Tarball, "linux", "steward_", "_linux_ARCH.tar.gz", map[string]string{"amd64": "amd64", "arm64": "arm64"}},
	{Tarball, "darwin", "steward_", "_darwin_ARCH.tar.gz", map[string]string{"amd64": "amd64", "arm64": "arm64"}},
	{Setup, "windows", "steward-", "-windows-ARCH-setup.exe", map[string]string{"amd64": "amd64", "arm64": "arm64"}},
	{DMG, "darwin", "steward-", "-macos-universal.dmg", nil},
}

// versionIn is the version in the name of a package of Steward, "" in another.
func versionIn(name string) string {
	for _, n := range named {
		for _, a := range words(n.arch) {
			if v, ok := between(name, n.before, strings.ReplaceAll(n.after, "ARCH", a)); ok {
				return v
			}
		}
	}
	return ""
}

func words(arch map[string]string) (all []string) {
	for _, a := range arch {
		all = append(all, a)
	}
	if arch == nil {
		all = []string{""}
	}
	return all
}

// between is the version between two parts of a name. Packages for Linux write
// the mark of a pre-release as a tilde.
func between(name, before, after string) (string, bool) {
	rest, ok := strings.CutPrefix(name, before)
	v, found := strings.CutSuffix(rest, after)
	v = strings.Replace(v, "~", "-", 1)
	return v, ok && found && Valid(v)
}

// For returns the file of a kind for a system and a processor as runtime.GOOS
// and runtime.GOARCH name them. The error is ErrAbsent.
func (r Release) For(kind Kind, system, arch string) (File, error) {
	for _, n := range named {
		a, known := n.arch[arch]
		if n.kind != kind || n.system != system || n.arch != nil && !known {
			continue
		}
		for _, f := range r.files {
			if _, ok := between(f.Name, n.before, strings.ReplaceAll(n.after, "ARCH", a)); ok {
				return f, nil
			}
		}
	}
	return File{}, fmt.Errorf("%w: none of the kind %s for %s/%s", ErrAbsent, kind, system, arch)
}
