import { Ajv } from 'ajv'
import { taskSchema, type OrderLine } from './task.ts'

/** Checks an input of the shared task with Ajv, compiled once. */
export const isOrderLine = new Ajv().compile<OrderLine>(taskSchema)
