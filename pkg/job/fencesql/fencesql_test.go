package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/cronfence/cronfence/internal/rig"
	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencesql"
	"github.com/cronfence/cronfence/pkg/job/internal/fencetest"
)

func TestMain(m *testing.M) { os.Exit(rig.Run(m)) }

// database is one that tests write to: what tells it from the others.
type database struct {
	dialect fencesql.Dialect
	driver  string
	source  func(t testing.TB) string
	serial  string // a key that rises by itself
}

var databases = map[string]database{
	"PostgreSQL": {fencesql.PostgreSQL, "pgx", rig.Postgres, "BIGSERIAL PRIMARY KEY"},
	"MariaDB":    {fencesql.MySQL, "mysql", func(t testing.TB) string { return rig.MariaDB(t) + "?clientFoundRows=true" }, "BIGINT AUTO_INCREMENT PRIMARY KEY"},
	"SQLite": {fencesql.SQLite, "sqlite", func(t testing.TB) string {
		return "file:" + filepath.Join(t.TempDir(), "db") + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)"
	}, "INTEGER PRIMARY KEY"},
}

// q writes PostgreSQL's placeholders as the database has them.
func (d database) q(query string) string {
	if d.dialect == fencesql.MySQL {
		for i := range 9 {
			query = strings.ReplaceAll(query, fmt.Sprintf("$%d", i), "?")
		}
	}
	return query
}

func (d database) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.driver, d.source(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(12)
	db.SetMaxIdleConns(12)
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + fencesql.Table, "DROP TABLE IF EXISTS log", "DROP TABLE IF EXISTS account",
		fencesql.Schema(d.dialect), fencesql.Schema(d.dialect),
		"CREATE TABLE log (id " + d.serial + ", place INT NOT NULL, fence BIGINT NOT NULL)",
		"CREATE INDEX log_place ON log (place)",
		"CREATE TABLE account (place INT PRIMARY KEY, fence BIGINT NOT NULL, writes VARCHAR(200) NOT NULL)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

// onEach runs a test on each database, with tables of its own.
func onEach(t *testing.T, f func(t *testing.T, d database, db *sql.DB)) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) { f(t, d, d.open(t)) })
	}
}

// logged is a place whose writes are rows of the table log.
func logged(d database, db *sql.DB, write func(ctx context.Context, run job.Run, n int) error) fencetest.Place {
	return fencetest.Place{Write: write, Landed: func(ctx context.Context, n int) ([]int64, error) {
		rows, err := db.QueryContext(ctx, d.q("SELECT fence FROM log WHERE place = $1 ORDER BY id"), n)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var fences []int64
		for rows.Next() {
			var f int64
			if err := rows.Scan(&f); err != nil {
				return nil, err
			}
			fences = append(fences, f)
		}
		return fences, rows.Err()
	}}
}

func TestNoLateTransactionLands(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		insert := d.q("INSERT INTO log (place, fence) VALUES ($1, $2)")
		fencetest.Holds(t, fencetest.Many(t), logged(d, db, func(ctx context.Context, run job.Run, n int) error {
			return fencesql.Tx(ctx, db, d.dialect, run, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, insert, n, run.Fence)
				return err
			})
		}))
		fencetest.LetsThrough(t, 100, logged(d, db, func(ctx context.Context, run job.Run, n int) error {
			_, err := db.ExecContext(ctx, insert, n+fencetest.Full, run.Fence)
			return err
		}).At(fencetest.Full))
	})
}

func TestNoLateStatementLands(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		text := map[fencesql.Dialect]string{
			fencesql.PostgreSQL: "writes || ' ' || CAST($1 AS TEXT)", fencesql.SQLite: "writes || ' ' || CAST($1 AS TEXT)",
			fencesql.MySQL: "CONCAT(writes, ' ', ?)",
		}[d.dialect]
		fill(t, db)
		landed := func(ctx context.Context, n int) (fences []int64, err error) {
			var writes string
			err = db.QueryRowContext(ctx, d.q("SELECT writes FROM account WHERE place = $1"), n).Scan(&writes)
			for _, w := range strings.Fields(writes) {
				var f int64
				if _, err := fmt.Sscan(w, &f); err != nil {
					return nil, err
				}
				fences = append(fences, f)
			}
			return fences, err
		}
		fencetest.Holds(t, fencetest.Many(t), fencetest.Place{Landed: landed, Write: func(ctx context.Context, run job.Run, n int) error {
			return fencesql.Exec(ctx, db, run, d.q("UPDATE account SET writes = "+text+", fence = $2 WHERE place = $3 AND fence <= $4"),
				fmt.Sprint(run.Fence), run.Fence, n, run.Fence)
		}})
	})
}

// fill makes the rows that statements update.
func fill(t *testing.T, db *sql.DB) {
	t.Helper()
	var values []string
	for n := range fencetest.Full {
		values = append(values, fmt.Sprintf("(%d, 0, '')", n))
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO account (place, fence, writes) VALUES "+strings.Join(values, ",")); err != nil {
		t.Fatal(err)
	}
}

// A transaction of the old run that has checked its fence is waited for: it comes before
// whatever the new run does.
func TestRaiseWaitsForATransactionInFlight(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		var order []string
		var mu sync.Mutex
		say := func(s string) { mu.Lock(); defer mu.Unlock(); order = append(order, s) }
		inside, done := make(chan struct{}), make(chan error, 1)
		go func() {
			err := fencesql.Tx(t.Context(), db, d.dialect, fencetest.NewRun(0, 1), func(*sql.Tx) error {
				close(inside)
				time.Sleep(50 * time.Millisecond)
				say("old")
				return nil
			})
			done <- err
		}()
		<-inside
		if err := fencesql.Raise(t.Context(), db, d.dialect, fencetest.NewRun(0, 2)); err != nil {
			t.Fatal(err)
		}
		say("new")
		if err := <-done; err != nil || strings.Join(order, " ") != "old new" {
			t.Errorf("%v, %v: want the old one first", order, err)
		}
		err := fencesql.Raise(t.Context(), db, d.dialect, fencetest.NewRun(0, 1))
		if fenced := new(job.FencedError); !errors.As(err, &fenced) || fenced.Seen != fencetest.Fence(2) {
			t.Errorf("%v: want it refused, and the newer fence named", err)
		}
	})
}

func TestATransactionThatFailsLeavesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		own := errors.New("no")
		err := fencesql.Tx(t.Context(), db, d.dialect, fencetest.NewRun(0, 2), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), d.q("INSERT INTO log (place, fence) VALUES ($1, $2)"), 0, 0)
			return errors.Join(err, own)
		})
		if !errors.Is(err, own) {
			t.Fatal(err)
		}
		var rows, fences int
		if err := db.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM log), (SELECT COUNT(*) FROM "+fencesql.Table+")").Scan(&rows, &fences); err != nil || rows+fences != 0 {
			t.Errorf("%d rows, %d fences, %v: want none", rows, fences, err)
		}
	})
}

// A transaction left open would keep the fence's row locked, and with it every later run out.
func TestATransactionWhoseWorkDoesNotReturnIsRolledBack(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		for name, leave := range map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit} {
			left := make(chan struct{})
			go func() {
				defer close(left)
				defer func() { _ = recover() }()
				err := fencesql.Tx(t.Context(), db, d.dialect, fencetest.NewRun(0, 1), func(tx *sql.Tx) error {
					if _, err := tx.ExecContext(t.Context(), d.q("INSERT INTO log (place, fence) VALUES ($1, $2)"), 0, 0); err != nil {
						return err
					}
					leave()
					return nil
				})
				t.Errorf("%s: the work returned: %v", name, err)
			}()
			<-left
			if n := db.Stats().InUse; n != 0 {
				t.Fatalf("%s: %d connections are still in use", name, n)
			}
		}
		var rows int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM log").Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows, %v: want none", rows, err)
		}
		if err := fencesql.Raise(t.Context(), db, d.dialect, fencetest.NewRun(0, 2)); err != nil {
			t.Error(err)
		}
	})
}

func TestAFenceThatNoRunCanHaveIsNotWritten(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		fencetest.Refuses(t, "Raise", func(run job.Run) error { return fencesql.Raise(t.Context(), db, d.dialect, run) })
		fencetest.Refuses(t, "Exec", func(run job.Run) error { return fencesql.Exec(t.Context(), nil, run, "UPDATE") })
		var fences int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+fencesql.Table).Scan(&fences); err != nil || fences != 0 {
			t.Errorf("%d fences, %v: want none", fences, err)
		}
	})
}

// The row's fence has no default: no run is ever let in, and must not be told that another was.
func TestARefusalByARowSaysWhatItMayBe(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		err := fencesql.Exec(t.Context(), db, fencetest.NewRun(0, 1), d.q("UPDATE account SET fence = $1 WHERE place = $2 AND fence <= $3"), fencetest.Fence(1), 1, fencetest.Fence(1))
		if !errors.Is(err, job.ErrFenced) || !strings.Contains(err.Error(), "it is not there, or its fence is NULL") {
			t.Errorf("%v: want all that it may be", err)
		}
	})
}

// Fences of different jobs say nothing about each other; Tx keeps them apart.
func TestJobsOfOneDatabaseDoNotShutEachOtherOut(t *testing.T) {
	onEach(t, func(t *testing.T, d database, db *sql.DB) {
		newest := fencetest.NewRun(0, 3)
		otherJob, otherScheduler := fencetest.NewRun(1, 1), fencetest.NewRun(0, 1)
		otherScheduler.Scheduler = "bank"
		for _, run := range []job.Run{newest, otherJob, otherScheduler, newest} {
			if err := fencesql.Raise(t.Context(), db, d.dialect, run); err != nil {
				t.Errorf("%s: %v", run.Name(), err)
			}
		}
	})
}
