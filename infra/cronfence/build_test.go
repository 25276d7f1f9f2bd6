package cronfence_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/cronfence"
	"github.com/cronfence/cronfence/infra/internal/infratest"
)

const maxZip = 5 << 20

// builtPackages are all Lambda functions that the example app deploys.
var builtPackages = []string{
	"functions/dispatcher", "functions/heartbeat", "functions/settler", "functions/sentinel",
	"infra/app/jobs/cleanup", "infra/app/jobs/sync", "infra/app/jobs/report",
}

func build(t *testing.T, pkg, architecture string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := cronfence.BuildGo(cronfence.GoBuild{Package: "github.com/cronfence/cronfence/" + pkg, Architecture: architecture, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "bootstrap"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFunctionsAreSmallAndBuildTheSameTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("builds seven functions")
	}
	hashes := map[string][32]byte{}
	for _, pkg := range builtPackages {
		binary := build(t, pkg, cronfence.ARM64)
		if n := zipped(t, binary); n > maxZip {
			t.Errorf("%s: zip of %d bytes: want less than %d", pkg, n, maxZip)
		} else {
			t.Logf("%s: %d bytes, %d zipped", pkg, len(binary), n)
		}
		hashes[pkg] = sha256.Sum256(binary)
	}
	// Neither the working directory nor the user's flags and workspace have a say.
	t.Chdir(t.TempDir())
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work"))
	for _, pkg := range builtPackages[:1] {
		if again := sha256.Sum256(build(t, pkg, cronfence.ARM64)); again != hashes[pkg] {
			t.Errorf("%s: built again, the binary differs: every deployment would replace it", pkg)
		}
	}
}

func TestFailingBuildSaysWhatGoSays(t *testing.T) {
	err := cronfence.BuildGo(cronfence.GoBuild{Package: "github.com/cronfence/cronfence/functions/nowhere", Architecture: cronfence.ARM64, Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "functions/nowhere") {
		t.Errorf("%v: want an error that names the package", err)
	}
}

func zipped(t *testing.T, binary []byte) int {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(o io.Writer) (io.WriteCloser, error) { return flate.NewWriter(o, flate.DefaultCompression) })
	f, err := w.Create("bootstrap")
	if err == nil {
		_, err = f.Write(binary)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// The constructs need Node.js and a 30 MB tarball; nothing that runs may link them.
func TestNothingButTheConstructsLinksTheCDK(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/...", "./functions/...", "./pkg/...", "./internal/...", "./infra/app/jobs/...")
	cmd.Dir = infratest.Root()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		for _, forbidden := range []string{"jsii", "aws-cdk-go", "constructs-go", "cronfence/infra/cronfence"} {
			if strings.Contains(dep, forbidden) {
				t.Errorf("a Lambda, the command line or a package of theirs links %s", strings.TrimSpace(dep))
			}
		}
	}
}
