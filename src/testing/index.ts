export { storeContract, type DeclareTest, type StoreUnderTest } from './store-contract.ts'
