// First, so that an older Node is told before anything fails on it.
export {} from './kit/require-node.ts'
export { createCassette, type Cassette, type CassetteOptions } from './testing/create-cassette.ts'
export { sandboxContract } from './testing/sandbox-contract.ts'
export type { SandboxUnderTest } from './testing/sandbox-checks/sandbox-under-test.ts'
export { storeContract, type DeclareTest } from './testing/store-contract.ts'
export type { StoreUnderTest } from './testing/store-checks/store-under-test.ts'
