import { sandboxContract } from '../testing/sandbox-contract.ts'
import { openSubject } from './open-subject.fixture.ts'
import { createSandboxRuntimeSandbox } from './sandbox-runtime/create-sandbox-runtime-sandbox.ts'

// Run by itself: says of each test in a line how it ended, as an ordinary user, whom root can start it as.
const tests: { title: string; run: () => Promise<void> }[] = []
sandboxContract('sandbox-runtime', () => openSubject(createSandboxRuntimeSandbox), {
  test: (title, run) => tests.push({ title, run }),
})
for (const { title, run } of tests) {
  const failed = await run().then(
    () => undefined,
    (error: unknown) => String(error),
  )
  console.log(JSON.stringify({ title, failed }))
}
