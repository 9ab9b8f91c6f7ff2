module go.etcd.io/bbolt

go 1.26.0

require github.com/holtdb/holt v0.0.0

require golang.org/x/sys v0.50.0 // indirect

replace github.com/holtdb/holt => ../..
