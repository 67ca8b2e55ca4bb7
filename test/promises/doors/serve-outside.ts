import { serveStdio } from '../../../src/mcp/server/stdio/serve-stdio.ts'
import { openOutside } from './outside-tools.ts'

const [project = '', user = '', store = ''] = process.argv.slice(2)
const runtime = await openOutside({ project, user, store })
const server = serveStdio({ runtime })
await server.closed
await runtime.close()
