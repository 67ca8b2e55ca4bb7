export { storeContract, type DeclareTest } from './store-contract.ts'
export type { StoreUnderTest } from './store-under-test.ts'
