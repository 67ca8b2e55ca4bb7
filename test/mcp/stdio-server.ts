import { serveStdio } from '../../src/server/serve-stdio.ts'
import { createDemoRuntime } from './demo-tools.ts'

const server = serveStdio({ runtime: createDemoRuntime() })
await server.closed
console.error('closed')
