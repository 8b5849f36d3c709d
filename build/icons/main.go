// Icons writes a square PNG in smaller sizes, each a mean of the pixels that it
// stands for, into FOLDER/NxN/apps/steward.png, as the hicolor theme wants them:
//
//	go run ./build/icons build/appicon.png FOLDER 16 32 48
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: icons PNG FOLDER SIZE...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "icons:", err)
		os.Exit(1)
	}
}

func run(from, folder string, sizes []string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	decoded, err := png.Decode(file)
	if err != nil {
		return err
	}
	whole := image.NewRGBA64(decoded.Bounds())
	draw.Draw(whole, whole.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	for _, s := range sizes {
		n, err := strconv.Atoi(s)
		if side := whole.Bounds().Dx(); err != nil || n < 1 || n > side || whole.Bounds().Dy() != side {
			return fmt.Errorf("%s: a size from 1 to %d of a square picture", s, side)
		}
		if err := write(filepath.Join(folder, s+"x"+s, "apps", "steward.png"), shrink(whole, n)); err != nil {
			return err
		}
	}
	return nil
}

// shrink makes a picture of n × n pixels. A pixel of the large one that lies on an
// edge counts for each side by its part; colours are premultiplied, so what cannot
// be seen does not colour what can.
func shrink(from *image.RGBA64, n int) *image.NRGBA {
	side := from.Bounds().Dx()
	to := image.NewNRGBA(image.Rect(0, 0, n, n))
	for y := range n {
		for x := range n {
			// In n-ths of a pixel the one of the small picture reaches over side.
			var sum [4]uint64
			for sy := y * side / n; sy*n < (y+1)*side; sy++ {
				height := min((sy+1)*n, (y+1)*side) - max(sy*n, y*side)
				for sx := x * side / n; sx*n < (x+1)*side; sx++ {
					width := min((sx+1)*n, (x+1)*side) - max(sx*n, x*side)
					c, part := from.RGBA64At(from.Rect.Min.X+sx, from.Rect.Min.Y+sy), uint64(width)*uint64(height)
					for i, v := range [4]uint16{c.R, c.G, c.B, c.A} {
						sum[i] += uint64(v) * part
					}
				}
			}
			area := uint64(side) * uint64(side)
			to.Set(x, y, color.RGBA64{R: uint16(sum[0] / area), G: uint16(sum[1] / area), B: uint16(sum[2] / area), A: uint16(sum[3] / area)})
		}
	}
	return to
}

func write(path string, picture image.Image) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(file, picture); err != nil {
		return err
	}
	return file.Close()
}
