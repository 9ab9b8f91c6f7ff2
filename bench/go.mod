module github.com/holtdb/holt/bench

go 1.26.0

replace github.com/holtdb/holt => ../

require (
	github.com/holtdb/holt v0.0.0-00010101000000-000000000000
	go.etcd.io/bbolt v1.5.0
)

require golang.org/x/sys v0.50.0 // indirect
