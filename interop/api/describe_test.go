// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// describe returns everything a user of p can see, one fact a line, "NAME: FACT". The engine's own packages are all
// written "bbolt", and parameter names are left out, so that equal lines mean equal uses.
func describe(p *packages.Package) []string {
	var d description
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		if token.IsExported(name) {
			d.object(scope.Lookup(name))
		}
	}
	slices.Sort(d.lines)
	return d.lines
}

type description struct{ lines []string }

func (d *description) add(name, format string, args ...any) {
	d.lines = append(d.lines, name+": "+fmt.Sprintf(format, args...))
}

func (d *description) object(obj types.Object) {
	switch obj := obj.(type) {
	case *types.Const:
		d.add(obj.Name(), "const %s = %s", typeString(obj.Type()), obj.Val().ExactString())
	case *types.Var:
		d.add(obj.Name(), "var %s", typeString(obj.Type()))
	case *types.Func:
		d.add(obj.Name(), "%s", typeString(obj.Type()))
	case *types.TypeName:
		d.typeName(obj.Name(), types.Unalias(obj.Type()))
	}
}

func (d *description) typeName(name string, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		d.add(name, "type struct")
		d.fields(name, u)
	case *types.Interface:
		d.add(name, "type interface of %d methods", u.NumMethods()) // one more would break implementations
	default:
		d.add(name, "type %s", typeString(u))
	}
	d.methods(name, t, "value")
	if !types.IsInterface(t) {
		d.methods(name, types.NewPointer(t), "pointer")
	}
}

func (d *description) fields(name string, s *types.Struct) {
	for i := range s.NumFields() {
		f := s.Field(i)
		if !f.Exported() {
			continue
		}
		d.add(name+"."+f.Name(), "field %s %q embedded=%v", typeString(f.Type()), s.Tag(i), f.Embedded())
	}
}

// methods lists the method set of t, promoted methods included.
func (d *description) methods(name string, t types.Type, receiver string) {
	for m := range types.NewMethodSet(t).Methods() {
		if m.Obj().Exported() {
			d.add(name+"."+m.Obj().Name(), "method of a %s: %s", receiver, typeString(m.Type()))
		}
	}
}

func typeString(t types.Type) string {
	return strings.ReplaceAll(types.TypeString(withoutNames(t), qualifier), "interface{}", "any")
}

func qualifier(p *types.Package) string {
	for _, engine := range []string{"go.etcd.io/bbolt", "github.com/holtdb/holt"} {
		if p.Path() == engine || strings.HasPrefix(p.Path(), engine+"/") {
			return "bbolt"
		}
	}
	return p.Path()
}

// withoutNames rebuilds t with aliases resolved, parameters unnamed and types nobody can name left blank.
func withoutNames(t types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		return types.NewPointer(withoutNames(t.Elem()))
	case *types.Slice:
		return types.NewSlice(withoutNames(t.Elem()))
	case *types.Chan:
		return types.NewChan(t.Dir(), withoutNames(t.Elem()))
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, unnamed(t.Params()), unnamed(t.Results()), t.Variadic())
	case *types.Named:
		if obj := t.Obj(); obj.Pkg() != nil && !obj.Exported() {
			return types.NewNamed(types.NewTypeName(token.NoPos, obj.Pkg(), "unexported", nil), t.Underlying(), nil)
		}
		return t
	default:
		return t
	}
}

func unnamed(tuple *types.Tuple) *types.Tuple {
	vars := make([]*types.Var, tuple.Len())
	for i := range vars {
		vars[i] = types.NewParam(token.NoPos, nil, "", withoutNames(tuple.At(i).Type()))
	}
	return types.NewTuple(vars...)
}
