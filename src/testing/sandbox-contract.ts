import { commandChecks } from './sandbox-checks/commands.ts'
import { fileChecks } from './sandbox-checks/files.ts'
import type { SandboxUnderTest } from './sandbox-checks/sandbox-under-test.ts'
import type { DeclareTest } from './store-contract.ts'

/** Declares the tests that every sandbox must pass. `open` returns a sandbox around an empty project each time. */
export function sandboxContract(
  name: string,
  open: () => Promise<SandboxUnderTest>,
  { test }: { test: DeclareTest },
): void {
  for (const [title, check] of Object.entries({ ...fileChecks, ...commandChecks }))
    test(`${name}: ${title}`, async () => {
      const subject = await open()
      try {
        await check(subject)
      } finally {
        await subject.dispose()
      }
    })
}
