// First, so that an older Node is told before anything fails on it.
export {} from '../kit/require-node.ts'
export { createCassette, type Cassette, type CassetteOptions } from './create-cassette.ts'
export { sandboxContract } from './sandbox-contract.ts'
export type { SandboxUnderTest } from './sandbox-checks/sandbox-under-test.ts'
export { storeContract, type DeclareTest } from './store-contract.ts'
export type { StoreUnderTest } from './store-checks/store-under-test.ts'
