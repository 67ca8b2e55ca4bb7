import { SetupError } from '../../contract/base/errors.ts'
import { answerProblem } from './answers.ts'

/** Does something, and answers what the runtime refuses of it in the words of the runtime. */
export async function refusingSetup<T>(act: () => T | Promise<T>, status = 409): Promise<T | Response> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return answerProblem({ status, detail: error.message, code: error.code })
  }
}
