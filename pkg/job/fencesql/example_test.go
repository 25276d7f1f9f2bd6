package fencesql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"

	"github.com/cronfence/cronfence/pkg/job"
	"github.com/cronfence/cronfence/pkg/job/fencesql"
)

func Example() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	ctx := context.Background()
	for _, statement := range []string{
		fencesql.Schema(fencesql.SQLite),
		"CREATE TABLE account (id TEXT, balance INT)",
		"INSERT INTO account VALUES ('a', 0)",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}

	book := func(run job.Run) error {
		return fencesql.Tx(ctx, db, fencesql.SQLite, run, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id = 'a'")
			return err
		})
	}
	paused, newer := job.Run{Scheduler: "shop", Job: "book", Fence: 7}, job.Run{Scheduler: "shop", Job: "book", Fence: 8}
	fmt.Println(book(newer))
	err = book(paused)
	fmt.Println(err, errors.Is(err, job.ErrFenced))
	// Output:
	// <nil>
	// write with fence 7 refused: fence 8 has been seen here true
}

// A row that keeps the fence of the run that wrote it last.
func ExampleExec() {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	ctx := context.Background()
	for _, statement := range []string{
		"CREATE TABLE account (id TEXT, balance INT)",
		"INSERT INTO account VALUES ('a', 0)",
		"ALTER TABLE account ADD COLUMN fence BIGINT NOT NULL DEFAULT 0", // NULL would keep every run out
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}

	set := func(run job.Run, balance int) error {
		return fencesql.Exec(ctx, db, run, "UPDATE account SET balance = $1, fence = $2 WHERE id = $3 AND fence <= $2", balance, run.Fence, "a")
	}
	fmt.Println(set(job.Run{Fence: 8}, 10))
	fmt.Println(set(job.Run{Fence: 7}, 20))
	// Output:
	// <nil>
	// write with fence 7 refused: no row was changed: a newer run has written it, it is not there, or its fence is NULL
}
