//go:build !linux

package main

func beAVictim() {}
