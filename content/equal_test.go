// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"errors"
	"fmt"
	"io"

	"github.com/holtdb/holt/content"
	"github.com/holtdb/holt/content/segment"
)

// equal compares a node itself, without what is below it.
func (n *tree) equal(s *content.Store, have segment.Node) error {
	errs := []error{n.equalChildren(have)}
	count := 0
	p := have.Properties()
	for ; p.Next(); count++ {
		want, ok := n.props[string(p.Name)]
		if !ok {
			errs = append(errs, fmt.Errorf("property %q should not be there", p.Name))
			continue
		}
		named, ok, err := have.Property(string(p.Name))
		if !ok || err != nil {
			errs = append(errs, fmt.Errorf("property %q is not found: %w", p.Name, err))
		}
		indexed, err := have.PropertyAt(count)
		errs = append(errs, err)
		for way, q := range []segment.Property{p.Property, named, indexed} {
			if err := want.equal(s, q, way > 0); err != nil {
				errs = append(errs, fmt.Errorf("property %q: %w", p.Name, err))
			}
		}
	}
	if count != len(n.props) || have.PropertyCount() != count {
		errs = append(errs, fmt.Errorf("%d properties, or %d, want %d", count, have.PropertyCount(), len(n.props)))
	}
	if _, ok, err := have.Property("absent"); ok || err != nil {
		errs = append(errs, fmt.Errorf("property absent: %t, %w", ok, err))
	}
	return errors.Join(append(errs, p.Err())...)
}

func (n *tree) equalChildren(have segment.Node) error {
	count, err := have.ChildCount()
	if err != nil || count != len(n.kids) {
		return fmt.Errorf("%d children, want %d: %w", count, len(n.kids), err)
	}
	if _, ok, err := have.Child("absent"); ok || err != nil {
		return fmt.Errorf("child absent: %t, %w", ok, err)
	}
	return nil
}

// equal compares values; of many, when in a hurry, only some.
func (want property) equal(s *content.Store, have segment.Property, hurry bool) error {
	if have.Type != want.typ || have.Count() != len(want.values) {
		return fmt.Errorf("%d values of type %s, want %d of %s", have.Count(), have.Type, len(want.values), want.typ)
	}
	for i, text := range want.values {
		if hurry && i > 2 && i < len(want.values)-2 {
			continue
		}
		v, err := have.Value(i)
		if err == nil {
			err = want.equalValue(s, v, text)
		}
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	return nil
}

func (want property) equalValue(s *content.Store, have segment.Value, text string) error {
	if want.typ.Base() != segment.TypeBinary {
		return equalText(have, text)
	}
	if have.IsExternal() != want.outside {
		return fmt.Errorf("outside: %t", have.IsExternal())
	}
	if !want.outside {
		return equalText(have, text)
	}
	text = outsideText(text)
	r, err := s.Binary(have)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(r)
	if err == nil && string(b) != text {
		err = fmt.Errorf("binary %.50q, want %.50q", b, text)
	}
	return errors.Join(err, r.Close())
}

func equalText(have segment.Value, text string) error {
	rest := expected(text)
	_, err := have.WriteTo(&rest)
	if have.Len() != int64(len(text)) {
		err = errors.Join(err, fmt.Errorf("length %d, want %d", have.Len(), len(text)))
	}
	return errors.Join(err, rest.end())
}

// expected is what is still to be written.
type expected string

func (e *expected) Write(p []byte) (int, error) {
	if len(p) > len(*e) || string(p) != string((*e)[:len(p)]) {
		return 0, fmt.Errorf("%.50q, want %.50q", p, string(*e))
	}
	*e = (*e)[len(p):]
	return len(p), nil
}

func (e *expected) end() error {
	if len(*e) > 0 {
		return fmt.Errorf("%.50q is missing", string(*e))
	}
	return nil
}
