import { stdioChains, toContender } from './chains.ts'

export const contenders = stdioChains.map((chain) => toContender(chain, 1))
