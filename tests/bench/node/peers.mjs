// Other engines deciding the rules that policy_bench wrote: node peers.mjs FOLDER N...
// Prints rows like policy_bench (name, value, unit, target, method; tabs between). Each binding is
// named for what it is: cedar-wasm is not native Cedar, and Cerbos answers over HTTP.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import http from 'node:http'

const require = createRequire(import.meta.url)
const [folder, ...sizes] = process.argv.slice(2)

const calls = (rules, count) =>
	Array.from({ length: count }, (_, i) => {
		const rule = rules[Math.floor((i * 2654435761) % rules.length)]
		return { ...rule, group: i % 4 ? rule.group : 'group-none', hit: i % 4 !== 0 }
	})

const row = (name, value, method) => console.log([name, value.toFixed(1), 'us', '', method].join('\t'))

async function measure(engine, rules, ms, method, decide) {
	const all = calls(rules, 4096)
	const times = []
	for (let i = 0; i < 20; i++) await check(engine, all[i], decide)
	const until = performance.now() + ms
	for (let i = 0; performance.now() < until && i < 20000; i++) {
		const call = all[i % all.length]
		const from = process.hrtime.bigint()
		const allowed = await decide(call)
		times.push(Number(process.hrtime.bigint() - from) / 1000)
		if (allowed !== call.hit) throw new Error(`${engine} answers otherwise: ${JSON.stringify(call)}`)
	}
	times.sort((a, b) => a - b)
	const name = `${engine}, ${rules.length + 1} rules`
	row(name, times[Math.floor(times.length / 2)], `median of ${times.length}; ${method}`)
	row(`${name}, p99`, times[Math.floor(times.length * 0.99)], method)
}

async function check(engine, call, decide) {
	const allowed = await decide(call)
	if (allowed !== call.hit) throw new Error(`${engine} answers otherwise: ${JSON.stringify(call)}`)
}

async function cedar(rules) {
	const wasm = require('@cedar-policy/cedar-wasm/nodejs')
	const text = ['forbid(principal, action, resource == Table::"payroll");']
	for (const r of rules)
		text.push(
			`permit(principal == Agent::"${r.agent}", action == Action::"${r.tool}", ` +
				`resource == Table::"${r.table}") when { context.group == "${r.group}" };`
		)
	const parsed = wasm.preparsePolicySet('rules', { staticPolicies: text.join('\n') })
	if (parsed.type !== 'success') throw new Error(JSON.stringify(parsed))
	await measure('cedar-wasm', rules, 3000, 'policies parsed before; wasm, not native Cedar, whose published medians are 4 to 11 us', (c) => {
		const answer = wasm.statefulIsAuthorized({
			principal: { type: 'Agent', id: c.agent },
			action: { type: 'Action', id: c.tool },
			resource: { type: 'Table', id: c.table },
			context: { group: c.group },
			preparsedPolicySetId: 'rules',
			entities: [],
		})
		if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
		return answer.response.decision === 'allow'
	})
}

async function casbin(rules) {
	const { newEnforcer, newModelFromString, StringAdapter } = await import('casbin')
	const model = newModelFromString(
		'[request_definition]\nr = agent, group, tool, table\n' +
			'[policy_definition]\np = agent, group, tool, table, eft\n' +
			'[policy_effect]\ne = some(where (p.eft == allow)) && !some(where (p.eft == deny))\n' +
			'[matchers]\nm = (p.agent == "*" || r.agent == p.agent) && (p.group == "*" || r.group == p.group) && ' +
			'(p.tool == "*" || r.tool == p.tool) && r.table == p.table\n'
	)
	const lines = rules.map((r) => `p, ${r.agent}, ${r.group}, ${r.tool}, ${r.table}, allow`)
	const enforcer = await newEnforcer(model, new StringAdapter(['p, *, *, *, payroll, deny', ...lines].join('\n')))
	await measure('casbin for Node', rules, 3000, 'in the same process', (c) => enforcer.enforce(c.agent, c.group, c.tool, c.table))
}

const freePort = () =>
	new Promise((resolve) => {
		const server = createServer().listen(0, '127.0.0.1', () => {
			const { port } = server.address()
			server.close(() => resolve(port))
		})
	})

function writeCerbos(place, rules) {
	const byTable = new Map()
	for (const r of rules) byTable.set(r.table, [...(byTable.get(r.table) ?? []), r])
	rmSync(place, { recursive: true, force: true })
	mkdirSync(`${place}/policies`, { recursive: true })
	for (const [table, some] of byTable)
		writeFileSync(
			`${place}/policies/${table}.json`,
			JSON.stringify({
				apiVersion: 'api.cerbos.dev/v1',
				resourcePolicy: {
					resource: table,
					version: 'default',
					rules: some.map((r) => ({
						name: r.id,
						actions: [r.tool],
						effect: 'EFFECT_ALLOW',
						roles: [r.agent],
						condition: { match: { expr: `request.principal.attr.group == "${r.group}"` } },
					})),
				},
			})
		)
}

async function cerbos(rules) {
	const place = `${folder}/cerbos-${rules.length}`
	const port = await freePort()
	const grpc = await freePort()
	writeCerbos(place, rules)
	writeFileSync(
		`${place}/config.yaml`,
		`server:\n  httpListenAddr: 127.0.0.1:${port}\n  grpcListenAddr: 127.0.0.1:${grpc}\nstorage:\n  driver: disk\n  disk:\n    directory: ${place}/policies\n    watchForChanges: false\ntelemetry:\n  disabled: true\n`
	)
	const program = require.resolve(`@cerbos/cerbos-${process.platform}-${process.arch}`)
	const server = spawn(program, ['server', `--config=${place}/config.yaml`], { stdio: 'ignore' })
	const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
	const ask = (path, body) =>
		new Promise((resolve, reject) => {
			const request = http.request({ host: '127.0.0.1', port, path, method: body ? 'POST' : 'GET', agent, headers: body ? { 'content-type': 'application/json' } : {} }, (response) => {
				let text = ''
				response.on('data', (part) => (text += part))
				response.on('end', () => resolve({ status: response.statusCode, text }))
			})
			request.on('error', reject)
			request.end(body)
		})
	try {
		for (let i = 0; ; i++) {
			const health = await ask('/_cerbos/health').catch(() => null)
			if (health?.status === 200) break
			if (i > 300) throw new Error('cerbos does not start')
			await new Promise((resolve) => setTimeout(resolve, 100))
		}
		await measure('Cerbos', rules, 3000, 'HTTP on the loopback, one kept-alive connection', async (c) => {
			const answer = await ask(
				'/api/check/resources',
				JSON.stringify({
					requestId: 'r',
					principal: { id: 'u', roles: [c.agent], attr: { group: c.group } },
					resources: [{ actions: [c.tool], resource: { kind: c.table, id: '1' } }],
				})
			)
			return JSON.parse(answer.text).results[0].actions[c.tool] === 'EFFECT_ALLOW'
		})
	} finally {
		agent.destroy()
		server.kill()
	}
}

for (const size of sizes) {
	const rules = JSON.parse(readFileSync(`${folder}/rules-${size}.json`, 'utf8'))
	for (const [name, engine] of Object.entries({ 'cedar-wasm': cedar, casbin, cerbos }))
		try {
			await engine(rules)
		} catch (error) {
			console.error(`${name}, ${size} rules: ${error.message.split('\n')[0]}`)
		}
}
