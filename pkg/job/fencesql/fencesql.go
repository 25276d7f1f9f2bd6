// Package fencesql refuses late writes in a SQL database: PostgreSQL, MySQL and MariaDB, and
// SQLite, through database/sql and whichever driver the program has.
//
// # In a transaction
//
// A table of the package's (Schema) has one row for each job, with the newest fence seen.
// Tx runs a transaction whose first statement raises that fence to the run's own or, if it
// is higher, refuses. The row stays locked until the transaction ends, so:
//
//   - Protected: everything that is written in such a transaction, from the moment a newer
//     run has raised the fence. Call Raise before anything else, and that moment is the new
//     run's beginning; a transaction of the old run that had the row by then is waited for,
//     and so comes before it.
//   - Not protected: writes outside Tx and to other databases; time before the new run's
//     first statement. The writes of one job's runs are put in line behind each other, so keep
//     transactions short, or use the pattern below.
//   - Not protected: a database restored from a backup, or a replica promoted without the last
//     transactions, has forgotten the last fences, like everything else of that time.
//
// # In one statement
//
// A column of the author's own row, without this package's table:
//
//	ALTER TABLE account ADD COLUMN fence BIGINT NOT NULL DEFAULT 0
//	UPDATE account SET balance = $1, fence = $2 WHERE id = $3 AND fence <= $2
//
// Exec executes it and says what became of it. It costs nothing and protects that row, from
// the moment a newer run has written it: not before, and no row that the newer run does not
// touch. A row that the statement inserts or deletes has no such memory. It is for one job:
// fences of different jobs say nothing about each other, and a second one that writes the row
// may be shut out of it; Tx keeps jobs apart. The column must have a default: where the fence is NULL every run is refused, the first one too.
package fencesql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/internal/fence"
	"github.com/cronfence/cronfence/pkg/job/internal/step"
)

// Dialect says which database it is.
type Dialect int

// The dialects. MySQL is MariaDB too.
const (
	PostgreSQL Dialect = iota + 1
	MySQL
	SQLite
)

// Table is the table of fences: name (text, the primary key: scheduler/job) and fence (a
// 64-bit integer).
const Table = "cronfence_fences"

// DB begins transactions: a *sql.DB or a *sql.Conn.
type DB interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// Schema returns the statement that makes the table of fences, for a migration. It does
// nothing where the table is already there.
func Schema(d Dialect) string {
	name := "TEXT"
	if d == MySQL {
		name = "VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin" // without a length it cannot be a key
	}
	return "CREATE TABLE IF NOT EXISTS " + Table + " (name " + name + " NOT NULL PRIMARY KEY, fence BIGINT NOT NULL)"
}

// Tx does f's writes in a transaction that is refused with a *job.FencedError, before f is
// called, if a newer run of the job has written. It commits when f returns nil and rolls back
// otherwise, also when f panics. It retries nothing.
func Tx(ctx context.Context, db DB, d Dialect, run job.Run, f func(tx *sql.Tx) error) (err error) {
	step.At(ctx)
	defer step.At(ctx)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin fenced transaction: %w", err)
	}
	// In every case, also when f does not return: an open transaction keeps its connection and
	// the lock on the fence.
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	if err := check(ctx, tx, d, run); err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit fenced transaction: %w", err)
	}
	return nil
}

// ignoreDone drops what a rollback says when the transaction has ended by itself.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Raise makes the run's fence the newest one seen, so that no older run can write from then
// on. A run calls it before it does anything else.
func Raise(ctx context.Context, db DB, d Dialect, run job.Run) error {
	return Tx(ctx, db, d, run, func(*sql.Tx) error { return nil })
}

// Check raises the fence in a transaction of the author's, or refuses with a
// *job.FencedError: then roll back. It must be the first statement of the transaction. For
// the drill of package jobtest the work calls job.Point once the transaction has ended.
func Check(ctx context.Context, tx *sql.Tx, d Dialect, run job.Run) error {
	step.Owe(ctx, "fencesql.Check")
	return check(ctx, tx, d, run)
}

func check(ctx context.Context, tx *sql.Tx, d Dialect, run job.Run) error {
	if err := fence.Check(run.Fence); err != nil {
		return err
	}
	var seen int64
	var err error
	switch d {
	case PostgreSQL, SQLite:
		seen, err = checkOnConflict(ctx, tx, run)
	case MySQL:
		seen, err = checkOnDuplicate(ctx, tx, run)
	default:
		return fmt.Errorf("dialect %d: must be PostgreSQL, MySQL or SQLite", d)
	}
	if err != nil {
		return fmt.Errorf("check fence of job %q: %w", run.Job, err)
	}
	if seen > run.Fence {
		return &job.FencedError{Fence: run.Fence, Seen: seen}
	}
	return nil
}

// checkOnConflict locks the row whether or not it changes it, and judges it as it is then,
// not as it was when the transaction began. $1 is PostgreSQL's and SQLite's.
func checkOnConflict(ctx context.Context, tx *sql.Tx, run job.Run) (seen int64, err error) {
	res, err := tx.ExecContext(ctx, "INSERT INTO "+Table+" (name, fence) VALUES ($1, $2) "+
		"ON CONFLICT (name) DO UPDATE SET fence = excluded.fence WHERE "+Table+".fence <= excluded.fence", run.Name(), run.Fence)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil || n > 0 {
		return run.Fence, err
	}
	err = tx.QueryRowContext(ctx, "SELECT fence FROM "+Table+" WHERE name = $1", run.Name()).Scan(&seen)
	return seen, err
}

// checkOnDuplicate reads back what it raised: MySQL's count of rows depends on a setting of
// the connection. FOR UPDATE reads the row as it is, not as the transaction's snapshot has it.
func checkOnDuplicate(ctx context.Context, tx *sql.Tx, run job.Run) (seen int64, err error) {
	_, err = tx.ExecContext(ctx, "INSERT INTO "+Table+" (name, fence) VALUES (?, ?) "+
		"ON DUPLICATE KEY UPDATE fence = GREATEST(fence, VALUES(fence))", run.Name(), run.Fence)
	if err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT fence FROM "+Table+" WHERE name = ? FOR UPDATE", run.Name()).Scan(&seen)
	return seen, err
}

// Execer executes statements: a *sql.DB, a *sql.Conn or a *sql.Tx.
type Execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Exec executes a statement of one row that ends in AND fence <= the run's, and returns a
// *job.FencedError when it changed no row. It cannot tell a newer fence from a row that is not
// there, or whose fence is NULL. With MySQL set clientFoundRows=true: else a row that already is
// as it should be counts as not changed. Where db is a transaction the work calls job.Point
// once that has ended, for the drill of package jobtest.
func Exec(ctx context.Context, db Execer, run job.Run, query string, args ...any) error {
	if err := fence.Check(run.Fence); err != nil {
		return fmt.Errorf("fenced statement: %w", err)
	}
	if _, open := db.(*sql.Tx); open { // held here, a run would keep the other one waiting for its locks
		step.Owe(ctx, "fencesql.Exec in a transaction")
	} else {
		step.At(ctx)
		defer step.At(ctx)
	}
	res, err := db.ExecContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("fenced statement: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("count the rows of a fenced statement: %w", err)
	}
	if n == 0 {
		return &job.FencedError{Fence: run.Fence, Why: "no row was changed: a newer run has written it, it is not there, or its fence is NULL"}
	}
	return nil
}
