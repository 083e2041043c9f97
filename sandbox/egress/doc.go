// Package egress is the CONNECT proxy of one caged task: the only way from a cage to other machines.
//
// A connection is let through when every rule holds, in this order. Each rule can only refuse; none lifts
// what another one refused, and a rule that cannot be applied refuses.
//
//  1. The request is `CONNECT name:port HTTP/1.x`. Everything else is refused, plain HTTP included.
//  2. The name is a host name, not an address in any spelling, and name and port are on the task's list.
//     No name that is not listed is ever looked up, since a look-up itself carries data out.
//  3. The name is looked up once. Every answer is a public address, and none is one of this machine's own.
//  4. The connection is made to one of exactly those answers.
//  5. The first bytes are a TLS ClientHello, and the one name in it is the name of the request.
//
// What it does not claim. Inside TLS nothing is seen: a listed host that serves others (a code host, a CDN)
// passes on what it is asked to, and with Encrypted ClientHello the name seen is the outer one, which is the
// name of the service that decrypts it. The labels below a `*.` pattern reach the DNS servers of that domain.
// A NAT64 gateway with a prefix of its network's own (RFC 6052, section 2.2) cannot be told from other public
// addresses, nor can the public address of the router in front of this machine; to reach either, the DNS of a
// listed host has to work with the agent.
package egress
