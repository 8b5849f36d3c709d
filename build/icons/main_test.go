package main

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func TestShrink(t *testing.T) {
	whole := image.NewRGBA64(image.Rect(0, 0, 6, 6)) // the right half is blue, the left cannot be seen
	for y := range 6 {
		for x := 3; x < 6; x++ {
			whole.SetRGBA64(x, y, color.RGBA64{B: 0xffff, A: 0xffff})
		}
	}
	for n, want := range map[int][]uint8{2: {0, 255}, 3: {0, 127, 255}, 4: {0, 0, 255, 255}, 6: {0, 0, 0, 255, 255, 255}} {
		small := shrink(whole, n)
		for x, alpha := range want {
			got := small.NRGBAAt(x, n-1)
			if got.A != alpha || alpha > 0 && (got.B != 255 || got.R != 0) {
				t.Errorf("%d × %d at %d: %v; want opacity %d of blue", n, n, x, got, alpha)
			}
		}
	}
}

func TestTheAppIcon(t *testing.T) {
	folder := t.TempDir()
	if err := run("../appicon.png", folder, []string{"16", "48"}); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(folder, "48x48", "apps", "steward.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // only read
	if c, err := png.DecodeConfig(file); err != nil || c.Width != 48 || c.Height != 48 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := run("../appicon.png", folder, []string{"4096"}); err == nil {
		t.Error("made a larger picture")
	}
}
