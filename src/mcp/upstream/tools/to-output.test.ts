import { expect, test } from 'vitest'
import type { Json } from '../../../contract/base/json.ts'
import { toOutput } from './to-output.ts'

const about = { server: 'shop', source: 'mcp.shop.pay' }

test.each<[Json | undefined, string | undefined]>([
  [true, 'upstream_error'],
  ['true', 'upstream_error'],
  [1, 'upstream_error'],
  [false, undefined],
  [null, undefined],
  [undefined, undefined],
])(
  'a server that says isError: %s of a call, in whatever form, is taken at its word (MCP-1)',
  (isError, reason) => {
    const output = toOutput({ content: [], ...(isError !== undefined && { isError }) }, about)
    expect(output.error?.reason).toBe(reason)
  },
)
