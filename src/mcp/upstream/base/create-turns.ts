/** Does one piece of work after the other, whether or not those before succeed. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let turn: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }
}
