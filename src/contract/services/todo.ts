/** The states of a todo, in the order in which they follow each other. */
export const todoStates = ['pending', 'in_progress', 'completed'] as const

/** One thing that an agent has to do. */
export interface Todo {
  readonly content: string
  readonly status: (typeof todoStates)[number]
  /** The same in words for while it is done, such as "Running the tests". */
  readonly activeForm?: string
}

/** The todo list of the session of a call. */
export interface Todos {
  list(): readonly Todo[]
  /** Puts another list in its place, without secrets. Rejects if the store does not take it. */
  replace(todos: readonly Todo[]): Promise<void>
}
