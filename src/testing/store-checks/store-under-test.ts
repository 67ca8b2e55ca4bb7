import type { Store } from '../../contract/store.ts'

/** A store under test. What is absent is not tested: nothing of a store in memory survives it. */
export interface StoreUnderTest {
  store: Store
  /** Closes the store and opens it again as another process would. */
  reopen?: () => Promise<Store>
  /** Opens the same once more beside the store, as another process would; `dispose` closes it. */
  openBeside?: () => Promise<Store>
  /** Closes the store, changes the text of its last record behind its back, and opens it again. */
  damage?: () => Promise<Store>
  /** Closes what is open and removes what is left. */
  dispose: () => Promise<void>
}

/** Tests of one subject by their titles. */
export interface Checks {
  readonly [title: string]: (subject: StoreUnderTest) => Promise<void>
}
