// Command nothing does nothing: the floor under every program that is started.
package main

func main() {}
