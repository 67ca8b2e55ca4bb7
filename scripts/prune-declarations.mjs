import { readFileSync, readdirSync, rmSync, rmdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const imported = /(?:from|import\()\s*["'](\.[^"']+)["']/g

/** Removes the declarations below a folder that none of these doors leads to: nobody can import them. */
export function pruneDeclarations(folder, doors) {
  const reached = new Set()
  const visit = (path) => {
    if (reached.has(path)) return
    reached.add(path)
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(imported))
      visit(resolve(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts')))
  }
  for (const door of doors) visit(resolve(folder, door))
  const prune = (at) => {
    const kept = readdirSync(at, { withFileTypes: true }).filter((entry) => {
      const path = join(at, entry.name)
      if (entry.isDirectory()) return prune(path)
      if (!entry.name.endsWith('.d.ts') || reached.has(path)) return true
      rmSync(path)
      return false
    })
    if (kept.length === 0) rmdirSync(at)
    return kept.length > 0
  }
  prune(resolve(folder))
}
