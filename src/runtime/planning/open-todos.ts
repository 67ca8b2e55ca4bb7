import type { Todo, Todos } from '../../contract/services/todo.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { redactorOf } from '../record/treatments.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** The todo list of the session of a call. What is kept of it has no secrets. */
export function openTodos({ registered }: Admitted, scope: CallScope): Todos {
  const { todos } = scope.session
  const redactor = redactorOf(registered, scope)
  const clean = ({ content, activeForm, status }: Todo): Todo => ({
    content: redactor.text(content),
    status,
    ...(activeForm !== undefined && { activeForm: redactor.text(activeForm) }),
  })
  return {
    list: () => copyJson(todos.read() ?? []),
    replace: (list) => todos.write(list.map(clean)),
  }
}
