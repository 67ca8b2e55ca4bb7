import type { ToolSource } from '../../contract/base/tool.ts'
import { scheduleTools as listScheduleTools } from '../../tools/schedule/tools.ts'

/** The built-in tools for schedules. A process runs them with `runtime.schedules.start()`; `handrail serve` does. */
export function scheduleTools(): ToolSource {
  const tools = listScheduleTools()
  return { id: 'builtin.schedule', kind: 'builtin', list: () => tools }
}
