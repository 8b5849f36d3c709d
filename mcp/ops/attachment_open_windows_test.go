package ops

import "testing"

func TestWhatWindowsRuns(t *testing.T) {
	t.Setenv("PATHEXT", ".COM;.EXE;.BAT;.CMD;.XYZ")
	for path, want := range map[string]bool{
		`C:\a\mix.wav`: false, `C:\a\notes.txt`: false, `C:\a\page.html`: false, `C:\a\name`: false,
		`C:\a\x.exe`: true, `C:\a\X.Bat`: true, `C:\a\x.xyz`: true, `C:\a\x.lnk`: true, `C:\a\x.ps1`: true, `C:\a\x.js`: true, `C:\a\x.py`: true,
		`C:\a\x.exe.`: true, `C:\a\x.exe `: true, `C:\a\x.txt:y.exe`: true, `C:\a\x.msi`: true,
	} {
		if got := runs(path, nil); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{`C:\a\x.txt`: false, `\\server\share\x.txt`: true, `//server/share/x.txt`: true, `\\?\C:\x.txt`: true, `\\.\pipe\x`: true} {
		if got := elsewhere(path); got != want {
			t.Errorf("elsewhere %s: %v", path, got)
		}
	}
}
