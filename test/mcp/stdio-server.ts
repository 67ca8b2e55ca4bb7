import { serveStdio } from '../../src/mcp/server/stdio/serve-stdio.ts'
import { createDemoRuntime } from './demo-tools.ts'

const server = serveStdio({ runtime: createDemoRuntime() })
await server.closed
console.error('closed')
