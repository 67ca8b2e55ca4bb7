import type { Tool } from '../contract/tool/tool.ts'

const made = new WeakSet<Tool>()

/** Keeps in mind that a tool is one of Handrail's own, as it is from now on. */
export function markBuiltin<Made extends Tool>(tool: Made): Made {
  made.add(Object.freeze(tool))
  return tool
}

/** A tool that does something else under the definition of another one: it is Handrail's where that one is. */
export function stubFor<Made extends Tool>(tool: Tool, stub: Made): Made {
  return isBuiltin(tool) ? markBuiltin(stub) : stub
}

/** Whether Handrail made a tool. No name and no word of a source tells that, nor does a copy. */
export function isBuiltin(tool: Tool): boolean {
  return made.has(tool)
}
