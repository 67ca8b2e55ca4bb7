import type { FeedHost } from '../../contract/tool-feed.ts'
import { fillSecretNames } from '../../kit/secret-names.ts'

/** Values with each `${NAME}` replaced by the secret of that name. Throws where one was not given. */
export function fillSecrets(
  values: Readonly<Record<string, string>>,
  { secret }: Pick<FeedHost, 'secret'>,
): Record<string, string> {
  const valueOf = (name: string): string => {
    const value = secret(name)
    if (value !== undefined) return value
    throw new Error(`The secret "${name}" is not there. Set it in the environment, and start Handrail again.`)
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, fillSecretNames(text, valueOf)]),
  )
}
