import { openPolicyBook, type PolicyBook } from '../../config/policy-file/policy-book.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { showLine } from '../base/show-safely.ts'
import type { Places } from './wire.ts'

/** The versions of the policy file. What stands in it now is one of them, also if it was written by hand. */
export async function openVersions(
  { home }: Places,
  { store }: Runtime,
): Promise<{ book: PolicyBook; keepVersion: () => Promise<void> }> {
  const book = openPolicyBook({ home, store, checker: createSchemaChecker() })
  const keepVersion = (): Promise<void> =>
    book.notice().catch((error: unknown) => {
      process.stderr.write(
        `handrail: the version of the policy was not kept: ${showLine(messageOf(error))}\n`,
      )
    })
  await keepVersion()
  return { book, keepVersion }
}
