package update

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const someSum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sums is a list with that sum for every name.
func sums(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%s  %s\n", someSum, n)
	}
	return b.String()
}

// packages are the names of all that a release of a version holds.
func packages(v string) []string {
	return []string{
		"steward_" + v + "_amd64.deb", "steward_" + v + "_arm64.deb", "steward-" + v + "-1.x86_64.rpm", "steward-" + v + "-1.aarch64.rpm",
		"steward_" + v + "_linux_amd64.tar.gz", "steward_" + v + "_linux_arm64.tar.gz", "steward_" + v + "_darwin_arm64.tar.gz",
		"steward-" + v + "-windows-amd64-setup.exe", "steward-" + v + "-windows-arm64-setup.exe", "steward-" + v + "-macos-universal.dmg",
	}
}

func TestParse(t *testing.T) {
	all := append(packages("1.2.3"), "sbom.spdx.json", "steward.1", "steward_nightly_linux_amd64.tar.gz")
	for _, text := range []string{sums(all...), strings.TrimSuffix(sums(all...), "\n"), strings.ReplaceAll(sums(all...), "  ", " *")} {
		r, err := parse([]byte(text))
		if err != nil || r.Version != "1.2.3" || len(r.files) != len(all) {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, c := range []struct {
			kind         Kind
			system, arch string
			name         string
		}{
			{Deb, "linux", "amd64", all[0]}, {Deb, "linux", "arm64", all[1]}, {RPM, "linux", "amd64", all[2]}, {RPM, "linux", "arm64", all[3]},
			{Tarball, "linux", "amd64", all[4]}, {Tarball, "linux", "arm64", all[5]}, {Tarball, "darwin", "arm64", all[6]},
			{Setup, "windows", "amd64", all[7]}, {Setup, "windows", "arm64", all[8]}, {DMG, "darwin", "arm64", all[9]}, {DMG, "darwin", "amd64", all[9]},
		} {
			if f, err := r.For(c.kind, c.system, c.arch); err != nil || f.Name != c.name || fmt.Sprintf("%x", f.Sum) != someSum {
				t.Errorf("%s for %s/%s: %+v, %v; want %s", c.kind, c.system, c.arch, f, err, c.name)
			}
		}
		for _, c := range [][3]string{{"tarball", "darwin", "amd64"}, {"deb", "linux", "riscv64"}, {"setup", "linux", "amd64"}, {"tarball", "freebsd", "amd64"}} {
			if f, err := r.For(Kind(c[0]), c[1], c[2]); !errors.Is(err, ErrAbsent) {
				t.Errorf("%v: %+v, %v; want none", c, f, err)
			}
		}
	}
	// Packages for Linux write 1.3.0-rc.1 with a tilde.
	r, err := parse([]byte(sums("steward_1.3.0~rc.1_amd64.deb", "steward-1.3.0~rc.1-1.x86_64.rpm", "steward_1.3.0-rc.1_linux_amd64.tar.gz")))
	if err != nil || r.Version != "1.3.0-rc.1" {
		t.Errorf("%+v, %v", r, err)
	}
	if f, err := r.For(Deb, "linux", "amd64"); err != nil || f.Name != "steward_1.3.0~rc.1_amd64.deb" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestParseRefuses(t *testing.T) {
	good := "steward_1.2.3_linux_amd64.tar.gz"
	for name, text := range map[string]string{
		"nothing":              "",
		"an empty line":        sums(good) + "\n" + sums("b.txt"),
		"no version":           sums("README.md"),
		"two versions":         sums(good, "steward_1.2.4_linux_arm64.tar.gz"),
		"a name twice":         sums(good, good),
		"a folder":             sums(good, "a/b"),
		"a way out":            sums(good, "../b"),
		"a folder of Windows":  sums(good, `a\b`),
		"a drive":              sums(good, "c:b"),
		"a hidden name":        sums(good, ".bashrc"),
		"an option":            sums(good, "-rf"),
		"a space":              sums(good, "a b"),
		"a control character":  sums(good, "a\x1bb"),
		"an escaped name":      `\` + sums(good),
		"a carriage return":    strings.ReplaceAll(sums(good), "\n", "\r\n"),
		"a short sum":          someSum[1:] + "  " + good + "\n",
		"capitals":             strings.ToUpper(someSum) + "  " + good + "\n",
		"no hexadecimal":       strings.Repeat("g", 64) + "  " + good + "\n",
		"one space":            someSum + " " + good + "\n",
		"the form of BSD":      "SHA256 (" + good + ") = " + someSum + "\n",
		"too long a name":      sums(good, strings.Repeat("a", maxName+1)),
		"too many files":       sums(append([]string{good}, many(maxFiles)...)...),
		"no signature, a page": "<html><body>Not Found</body></html>",
	} {
		if r, err := parse([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := parse([]byte(sums(append([]string{good}, many(maxFiles-1)...)...))); err != nil {
		t.Errorf("%d files: %v", maxFiles, err)
	}
}

func many(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("f", i))
	}
	return names
}

func TestValid(t *testing.T) {
	for v, want := range map[string]bool{
		"1.2.3": true, "0.0.0": true, "10.20.300": true, "1.2.3-rc.1": true, "0.1.0-dev.5.gabc1234": true, "0.1.0-dev": true,
		"": false, "1.2": false, "v1.2.3": false, "1.2.3.4": false, "01.2.3": false, "1.2.3-": false, "1.2.3-a..b": false, "1.2.3+build": false, "1.2.x": false, "1.2.3\n": false,
		"1.2.3-0": true, "1.2.3-01a": true, "1.2.3-0-1": true, "1.2.3-01": false, "1.2.3-rc.01": false, "1.2.3-a_b": false,
		"1.2.3-" + strings.Repeat("a", 60): false, "99999999999.0.0": false,
	} {
		if Valid(v) != want {
			t.Errorf("Valid(%q) = %v", v, !want)
		}
	}
}

// Whatever comes, what is taken is a list that says the same when it is written
// again, with names that can lead nowhere else.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sums(packages("1.2.3")...)))
	f.Add([]byte(sums("steward_1.3.0~rc.1_amd64.deb", "x")))
	f.Add([]byte(sums("steward_1.2.3_linux_amd64.tar.gz", "../x")))
	f.Add([]byte(someSum + " *steward-1.2.3-macos-universal.dmg"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if !Valid(r.Version) {
			t.Fatalf("%q: version %q", text, r.Version)
		}
		var b bytes.Buffer
		for _, x := range r.files {
			if strings.ContainsAny(x.Name, "/\\: \x00\n") || strings.HasPrefix(x.Name, ".") || x.Name == "" {
				t.Fatalf("%q: name %q", text, x.Name)
			}
			fmt.Fprintf(&b, "%x  %s\n", x.Sum, x.Name)
		}
		again, err := parse(b.Bytes())
		if err != nil || again.Version != r.Version || len(again.files) != len(r.files) {
			t.Fatalf("%q became %q: %+v, %v", text, b.Bytes(), again, err)
		}
		for i := range r.files {
			if again.files[i] != r.files[i] {
				t.Fatalf("%q became %q", text, b.Bytes())
			}
		}
	})
}
