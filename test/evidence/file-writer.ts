import { codeTools, createRuntime } from 'handrail'

/** A process that writes files through governed calls, eight at a time, until it is killed. Each call carries a key: its file's name. */
const [project = '', store = '', name = ''] = process.argv.slice(2)
const runtime = await createRuntime({
  project,
  tools: [codeTools()],
  store: { path: store },
  policy: { rules: [{ effect: 'allow', tools: ['code.write_file'] }] },
})
const session = runtime.session()
process.stdout.write('ready\n')
let count = 0
await Promise.all(Array.from({ length: 8 }, work))

async function work(): Promise<void> {
  for (;;) {
    const path = `${name}-${count++}.txt`
    const result = await session.call('code.write_file', { path, content: path }, { idempotencyKey: path })
    if (!result.ok) throw new Error(`${path}: ${result.error?.message}`)
  }
}
