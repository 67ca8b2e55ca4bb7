/** How far one version is from an earlier one. `same` counts build metadata for nothing; `lower` is a step back. */
export type VersionStep = 'major' | 'minor' | 'patch' | 'same' | 'lower'

interface Version {
  numbers: readonly string[]
  prerelease: readonly string[]
}

/** The step between two versions, by the precedence of SemVer 2.0.0, section 11. Both must be SemVer. */
export function compareVersions(before: string, after: string): VersionStep {
  const left = parse(before)
  const right = parse(after)
  for (const [index, step] of (['major', 'minor', 'patch'] as const).entries()) {
    const order = compareNumbers(left.numbers[index] ?? '0', right.numbers[index] ?? '0')
    if (order !== 0) return order < 0 ? step : 'lower'
  }
  const order = comparePrereleases(left.prerelease, right.prerelease)
  if (order === 0) return 'same'
  return order < 0 ? 'patch' : 'lower'
}

function parse(version: string): Version {
  const [text = ''] = version.split('+')
  const dash = text.indexOf('-')
  const core = dash < 0 ? text : text.slice(0, dash)
  return { numbers: core.split('.'), prerelease: dash < 0 ? [] : text.slice(dash + 1).split('.') }
}

/** Decimal numbers of any length, without leading zeros. */
function compareNumbers(left: string, right: string): number {
  return left.length - right.length || compareText(left, right)
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}

/** A release comes after all of its pre-releases. */
function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length
  for (const [index, identifier] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const order = compareIdentifiers(identifier, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers come before words. */
function compareIdentifiers(left: string, right: string): number {
  const [isLeftNumber, isRightNumber] = [isNumber(left), isNumber(right)]
  if (isLeftNumber && isRightNumber) return compareNumbers(left, right)
  if (isLeftNumber !== isRightNumber) return isLeftNumber ? -1 : 1
  return compareText(left, right)
}

function isNumber(identifier: string): boolean {
  return /^\d+$/.test(identifier)
}
