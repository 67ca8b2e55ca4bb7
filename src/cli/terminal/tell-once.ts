import type { Finding } from '../../sandboxes/doctor/finding.ts'

/** One cause can fail many simulations: the first of them tells it, the others name that one. */
export function tellOnce(findings: readonly Finding[]): Finding[] {
  const told = new Map<string, string>()
  return findings.map((finding) => {
    const earlier = told.get(finding.detail)
    if (earlier !== undefined) return { ...finding, detail: `as for "${earlier}"` }
    if (!finding.holds) told.set(finding.detail, finding.id)
    return finding
  })
}
