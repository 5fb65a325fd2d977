package source

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Under a writer that moves amounts between many rows in every journal mode, each read that
// does not say ErrChanged gives the rows of one moment: none missing, the sum unchanged.
// After each burst the writer rests until a whole read fell into the pause, so that however slow
// the machine is some reads succeed.
func TestQueryGivesOneMomentUnderABusyWriter(t *testing.T) {
	const accounts, each = 2000, 100
	for _, mode := range []string{"wal", "delete", "truncate", "persist"} {
		for _, synchronous := range []string{"normal", "off"} {
			t.Run(mode+"/"+synchronous, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				c := writer(t, path, "PRAGMA page_size = 1024", "PRAGMA journal_mode = "+mode, "PRAGMA synchronous = "+synchronous,
					"PRAGMA wal_autocheckpoint = 60", "PRAGMA cache_size = 40", "PRAGMA cache_spill = 1",
					"CREATE TABLE t (id INTEGER PRIMARY KEY, amount INTEGER, filler TEXT)",
					fmt.Sprintf("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < %d) INSERT INTO t SELECT i, %d, hex(zeroblob(100)) FROM c", accounts, each))
				var stop atomic.Bool
				var reads atomic.Int64
				done := make(chan error, 1)
				go func() {
					random := rand.New(rand.NewPCG(5, 6))
					for written := 1; !stop.Load(); written++ {
						a := random.IntN(accounts - 100)
						err := c.Exec(fmt.Sprintf("BEGIN; UPDATE t SET amount = amount - 1 WHERE id BETWEEN %d AND %d; UPDATE t SET amount = amount + 1 WHERE id BETWEEN %d AND %d; COMMIT",
							a+1, a+50, accounts-a-50, accounts-a-1))
						if err != nil {
							done <- err
							return
						}
						time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
						for rest := reads.Load() + 2; written%20 == 0 && reads.Load() < rest && !stop.Load(); {
							time.Sleep(time.Millisecond)
						}
					}
					done <- nil
				}()
				good, changed := 0, 0
				for start := time.Now(); time.Since(start) < 250*time.Millisecond || good == 0 && time.Since(start) < time.Minute; reads.Add(1) {
					n, sum, err := total(path)
					switch {
					case errors.Is(err, ErrChanged):
						changed++
					case err != nil:
						t.Errorf("after %d good reads: %v", good, err)
					case n != accounts || sum != accounts*each:
						t.Errorf("after %d good reads: %d rows, sum %d", good, n, sum)
					default:
						good++
					}
				}
				stop.Store(true)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				t.Logf("%d good, %d changed", good, changed)
				if good == 0 {
					t.Error("no read succeeded")
				}
			})
		}
	}
}

func total(path string) (n, sum int64, err error) {
	d, err := OpenDB(path)
	if err != nil {
		return 0, 0, err
	}
	defer d.Close()
	err = d.Query(context.Background(), "SELECT amount FROM t", nil, func(_ []string, values []any) error {
		amount, _ := values[0].(int64) // a torn row may hold anything
		n, sum = n+1, sum+amount
		return nil
	})
	return n, sum, err
}
