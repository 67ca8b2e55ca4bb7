export { createCassette, type Cassette, type CassetteOptions } from './create-cassette.ts'
export { storeContract, type DeclareTest } from './store-contract.ts'
export type { StoreUnderTest } from './store-under-test.ts'
