// Command termic runs many coding agents side by side, each in its own task.
package main

func main() {}
