package cronfence_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cronfence/cronfence/infra/internal/infratest"
)

// publicPackages are the directories of packages that other modules import.
func publicPackages(t *testing.T) []string {
	t.Helper()
	dirs := []string{filepath.Join(infratest.Root(), "infra", "cronfence")}
	err := filepath.WalkDir(filepath.Join(infratest.Root(), "pkg"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "internal" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if err == nil && d.IsDir() {
			if files, _ := filepath.Glob(filepath.Join(path, "*.go")); len(files) > 0 {
				dirs = append(dirs, path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func parsePackage(t *testing.T, dir string) *doc.Package {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	rel, err := filepath.Rel(infratest.Root(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := doc.NewFromFiles(fset, files, filepath.ToSlash(rel))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// undocumented lists the exported identifiers of a package that no comment speaks of.
func undocumented(p *doc.Package) (missing []string) {
	lacks := func(name, text string) {
		if strings.TrimSpace(text) == "" {
			missing = append(missing, p.ImportPath+"."+name)
		}
	}
	lacks("package", p.Doc)
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, spec := range v.Decl.Specs {
				if s, ok := spec.(*ast.ValueSpec); ok && ast.IsExported(s.Names[0].Name) {
					lacks(s.Names[0].Name, v.Doc+s.Doc.Text()+s.Comment.Text())
				}
			}
		}
	}
	functions := func(prefix string, all []*doc.Func) {
		for _, f := range all {
			lacks(prefix+f.Name, f.Doc)
		}
	}
	values(p.Consts)
	values(p.Vars)
	functions("", p.Funcs)
	for _, t := range p.Types {
		lacks(t.Name, t.Doc)
		values(t.Consts)
		values(t.Vars)
		functions("", t.Funcs)
		functions(t.Name+".", t.Methods)
	}
	return missing
}

type field struct{ name, text string }

// fieldsOf are a struct's exported fields.
func fieldsOf(t *doc.Type) (all []field) {
	for _, spec := range t.Decl.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		record, ok := s.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, f := range record.Fields.List {
			for _, name := range f.Names {
				if name.IsExported() {
					all = append(all, field{name.Name, f.Doc.Text() + f.Comment.Text()})
				}
			}
		}
	}
	return all
}

func TestEveryPublicIdentifierIsDocumented(t *testing.T) {
	for _, dir := range publicPackages(t) {
		for _, name := range undocumented(parsePackage(t, dir)) {
			t.Errorf("%s has no comment", name)
		}
	}
}

// What a prop left at zero means stands at the prop.
func TestEveryPropSaysItsDefault(t *testing.T) {
	props := 0
	for _, typ := range parsePackage(t, filepath.Join(infratest.Root(), "infra", "cronfence")).Types {
		if !strings.HasSuffix(typ.Name, "Props") && typ.Name != "JobAlarms" {
			continue
		}
		for _, f := range fieldsOf(typ) {
			props++
			if !strings.Contains(f.text, "Default:") && !strings.Contains(f.text, "Required") {
				t.Errorf("%s.%s says neither its default nor that it is required", typ.Name, f.name)
			}
		}
	}
	if props < 50 {
		t.Errorf("%d props found: the test reads the wrong types", props)
	}
}
